# SPDX-License-Identifier: Apache-2.0
#
# Install rules: library, headers, test kit, CMake package and pkg-config file. Components: runtime,
# development, testing, tools.

include(CMakePackageConfigHelpers)

set(corozk_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/corozk")

# What the package was compiled with, for users whose Boost is another one: detail/asio_settings.hpp.
set(corozk_boost "${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR}")
math(EXPR corozk_boost_number "1000 * ${Boost_VERSION_MAJOR} + ${Boost_VERSION_MINOR}")
set(corozk_boost_definition "COROZK_BOOST_VERSION=${corozk_boost_number}")
target_compile_definitions(corozk INTERFACE "$<INSTALL_INTERFACE:${corozk_boost_definition}>")

install(
    TARGETS corozk
    EXPORT corozkTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
            COMPONENT runtime
            NAMELINK_COMPONENT development
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development
)
install(
    EXPORT corozkTargets
    NAMESPACE corozk::
    DESTINATION "${corozk_cmake_dir}"
    COMPONENT development
)

# The test kit: find_package(corozk COMPONENTS testing).
if(TARGET corozk_testing)
    install(
        TARGETS corozk_testing
        EXPORT corozkTestingTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT testing
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT testing
        FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT testing
    )
    install(
        EXPORT corozkTestingTargets
        NAMESPACE corozk::
        DESTINATION "${corozk_cmake_dir}"
        COMPONENT testing
    )
endif()

if(BUILD_SHARED_LIBS)
    set(corozk_static OFF)
else()
    set(corozk_static ON)
endif()
if(COROZK_ZOOKEEPER_C_SOURCE_DIR)
    set(corozk_bundled ON)
else()
    set(corozk_bundled OFF)
endif()
configure_package_config_file(
    "${CMAKE_CURRENT_LIST_DIR}/corozkConfig.cmake.in" "${PROJECT_BINARY_DIR}/corozkConfig.cmake"
    INSTALL_DESTINATION "${corozk_cmake_dir}"
    NO_SET_AND_CHECK_MACRO
)
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(corozk_compatibility SameMinorVersion)
else()
    set(corozk_compatibility SameMajorVersion)
endif()
write_basic_package_version_file(
    "${PROJECT_BINARY_DIR}/corozkConfigVersion.cmake" COMPATIBILITY ${corozk_compatibility}
)
install(FILES "${PROJECT_BINARY_DIR}/corozkConfig.cmake"
              "${PROJECT_BINARY_DIR}/corozkConfigVersion.cmake"
              "${CMAKE_CURRENT_LIST_DIR}/FindZooKeeper.cmake"
              "${CMAKE_CURRENT_LIST_DIR}/FindCyrusSASL.cmake"
        DESTINATION "${corozk_cmake_dir}" COMPONENT development
)

# pkg-config: what a static library needs is its users' business, what a shared one needs is not.
# The prefix is found from the file's own place, so that an installed tree can be moved.
set(corozk_pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
cmake_path(ABSOLUTE_PATH corozk_pc_dir BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}"
           OUTPUT_VARIABLE corozk_pc_absolute
)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${corozk_pc_absolute}"
           OUTPUT_VARIABLE corozk_pc_up
)
foreach(which IN ITEMS INCLUDEDIR LIBDIR)
    string(TOLOWER "${which}" name)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${which}}")
        set(corozk_pc_${name} "${CMAKE_INSTALL_${which}}")
    else()
        set(corozk_pc_${name} "\${prefix}/${CMAKE_INSTALL_${which}}")
    endif()
endforeach()
if(corozk_bundled)
    set(corozk_pc_libs "-lm")
else()
    set(corozk_pc_libs "-lzookeeper_st")
    cmake_path(GET ZooKeeper_ST_LIBRARY PARENT_PATH dir)
    if(NOT dir IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
        string(PREPEND corozk_pc_libs "-L${dir} ")
    endif()
    get_property(
        corozk_pc_needs
        TARGET ZooKeeper::zookeeper_st
        PROPERTY INTERFACE_LINK_LIBRARIES
    )
    foreach(name IN LISTS corozk_pc_needs)
        string(APPEND corozk_pc_libs " -l${name}")
    endforeach()
endif()
if(COROZK_TLS)
    string(APPEND corozk_pc_libs " -lssl -lcrypto")
endif()
if(COROZK_SASL)
    string(APPEND corozk_pc_libs " -lsasl2")
endif()
string(APPEND corozk_pc_libs " -pthread")
set(corozk_pc_settings " -D${corozk_boost_definition}")
set(corozk_pc_uring "")
if(COROZK_IO_URING)
    string(
        APPEND
        corozk_pc_settings
        " -DBOOST_ASIO_HAS_IO_URING -DBOOST_ASIO_DISABLE_EPOLL -DCOROZK_SAME_SETTINGS -include \${includedir}/corozk/detail/io_uring_cancel.hpp"
    )
    set(corozk_pc_uring " -luring")
endif()
string(APPEND corozk_pc_libs "${corozk_pc_uring}")
if(corozk_static)
    set(corozk_pc_cflags "${corozk_pc_settings}")
    set(corozk_pc_requires "fmt")
    string(PREPEND corozk_pc_libs "-L\${libdir} -lcorozk ")
    set(corozk_pc_requires_private "")
    set(corozk_pc_libs_private "")
else()
    set(corozk_pc_cflags " -DCOROZK_SHARED${corozk_pc_settings}")
    set(corozk_pc_requires "")
    # What the shared library needs it names itself; there is no static one beside it. (pkg-config wants
    # to see even what is required privately, and libcorozk-dev does not bring fmt's headers.)
    set(corozk_pc_requires_private "")
    set(corozk_pc_libs_private "")
    set(corozk_pc_libs "-L\${libdir} -lcorozk -pthread${corozk_pc_uring}")
endif()
configure_file(
    "${CMAKE_CURRENT_LIST_DIR}/corozk.pc.in" "${PROJECT_BINARY_DIR}/corozk.pc" @ONLY
)
install(FILES "${PROJECT_BINARY_DIR}/corozk.pc" DESTINATION "${corozk_pc_dir}"
        COMPONENT development
)
