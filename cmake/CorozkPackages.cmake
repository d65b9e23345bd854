# SPDX-License-Identifier: Apache-2.0
#
# Debian packages, made by `tools/package`: the shared library, what is needed to compile against it,
# the test kit, and the program.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME corozk)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "ZooKeeper's recipes as C++20 awaitables")
set(CPACK_PACKAGE_VENDOR "corozk")
set(CPACK_PACKAGE_CONTACT "The corozk authors <corozk@example.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX "${CMAKE_INSTALL_PREFIX}")
set(CPACK_STRIP_FILES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime development testing tools)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(corozk_exactly "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
    "ZooKeeper client and recipes for C++20 (library)
 Locks, elections, barriers, queues, two-phase commit and the other recipes of ZooKeeper as awaitables
 on Boost.Asio. This package has the shared library."
)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME "libcorozk${COROZK_ABI}")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "ZooKeeper client and recipes for C++20 (development files)
 Headers, CMake package and pkg-config file."
)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcorozk-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# The same minor version of Boost as the library's, as doc/versions.md requires. Debian's default,
# libboost-dev, may be another one, older (1.74 in Debian 12) or newer.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libcorozk${COROZK_ABI} ${corozk_exactly}, libboost${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR}-dev"
)
if(NOT BUILD_SHARED_LIBS)
    string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libfmt-dev, libzookeeper-st-dev")
    if(COROZK_TLS)
        string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libssl-dev")
    endif()
    if(COROZK_SASL)
        string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libsasl2-dev")
    endif()
endif()

set(CPACK_COMPONENT_TESTING_DESCRIPTION
    "ZooKeeper client and recipes for C++20 (test kit)
 The library corozk::testing: starts ZooKeeper servers and ensembles for tests, expires sessions, and
 breaks connections at any message."
)
set(CPACK_DEBIAN_TESTING_PACKAGE_NAME libcorozk-testing-dev)
set(CPACK_DEBIAN_TESTING_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_TESTING_PACKAGE_DEPENDS
    "libcorozk-dev ${corozk_exactly}, libfmt-dev, zookeeper"
)

set(CPACK_COMPONENT_TOOLS_DESCRIPTION
    "locks, elections and queues of ZooKeeper on the command line
 The program corozk runs commands under locks, permits and leaderships, and shows who holds and who
 waits."
)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME corozk-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
# Of the other packages made here, dpkg-shlibdeps knows nothing yet.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}")
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "libcorozk${COROZK_ABI} ${corozk_exactly}")

foreach(component IN ITEMS runtime development testing tools)
    string(TOUPPER "${component}" upper)
    set(name "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
    install(
        FILES "${PROJECT_SOURCE_DIR}/LICENSE"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${name}"
        RENAME copyright
        COMPONENT ${component}
        EXCLUDE_FROM_ALL
    )
endforeach()

include(CPack)
