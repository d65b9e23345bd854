# SPDX-License-Identifier: Apache-2.0
#
# The source tree that this port is in, such as an unpacked release; see doc/packaging.md. A triplet
# may set COROZK_ZOOKEEPER_C_SOURCE_DIR.

cmake_path(SET SOURCE_PATH NORMALIZE "${CURRENT_PORT_DIR}/../../../..")

vcpkg_check_features(
    OUT_FEATURE_OPTIONS feature_options FEATURES tls COROZK_TLS sasl COROZK_SASL
)
if(COROZK_ZOOKEEPER_C_SOURCE_DIR)
    list(APPEND feature_options "-DCOROZK_ZOOKEEPER_C_SOURCE_DIR=${COROZK_ZOOKEEPER_C_SOURCE_DIR}")
endif()
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS -DCOROZK_BUILD_TESTS=OFF
            -DCOROZK_BUILD_EXAMPLES=OFF
            -DCOROZK_BUILD_BENCH=OFF
            -DCOROZK_BUILD_TOOLS=OFF
            -DCOROZK_BUILD_TEST_KIT=OFF
            -DCOROZK_INSTALL=ON
            ${feature_options}
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/corozk)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
