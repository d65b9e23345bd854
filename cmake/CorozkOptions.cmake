# SPDX-License-Identifier: Apache-2.0
#
# The options of the project, the flags of its own targets (never of a user's), and
# `corozk_configure_library`, which gives a library target what src/ needs to compile.

# Tests are on by default where this is the top project and Catch2 is installed; saying
# -DCOROZK_BUILD_TESTS=ON makes a missing Catch2 an error.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED COROZK_BUILD_TESTS)
    include(CorozkCatch)
    if(NOT Catch2_FOUND)
        message(STATUS "corozk: no tests (Catch2 2.13 was not found; its package is catch2)")
    endif()
    option(COROZK_BUILD_TESTS "Build corozk's tests" ${Catch2_FOUND})
endif()
option(COROZK_BUILD_TESTS "Build corozk's tests" ${PROJECT_IS_TOP_LEVEL})
option(COROZK_BUILD_EXAMPLES "Build corozk's examples" ${PROJECT_IS_TOP_LEVEL})
option(COROZK_BUILD_BENCH "Build corozk-bench" ${PROJECT_IS_TOP_LEVEL})
# The program `corozk`: by default where CLI11 is installed, as for the tests.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED COROZK_BUILD_TOOLS)
    find_package(CLI11 2.1 QUIET)
    if(NOT CLI11_FOUND)
        message(STATUS "corozk: no program (CLI11 2.1 was not found; its package is libcli11-dev)")
    endif()
    option(COROZK_BUILD_TOOLS "Build the program corozk" ${CLI11_FOUND})
endif()
option(COROZK_BUILD_TOOLS "Build the program corozk" ${PROJECT_IS_TOP_LEVEL})
option(COROZK_BUILD_TEST_KIT "Build the library corozk::testing" ${PROJECT_IS_TOP_LEVEL})
option(COROZK_INSTALL "Make corozk's install rules" ${PROJECT_IS_TOP_LEVEL})
option(COROZK_WERROR "Treat warnings in corozk's own files as errors" OFF)
option(COROZK_UNITY "Compile corozk's own files many at a time" ON)
# In one translation unit, what one file names for itself is a global to the next; only g++ can leave
# these out.
set(COROZK_WARN_SHADOW -Wshadow)
if(COROZK_UNITY)
    set(COROZK_WARN_SHADOW $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>)
endif()
set(COROZK_ZOOKEEPER_C_SOURCE_DIR
    ""
    CACHE PATH "Source of ZooKeeper's C client, to be compiled into the library; empty: the installed one"
)
option(COROZK_IO_URING "Experimental: Boost.Asio's io_uring (liburing-dev) in place of epoll" OFF)
option(BUILD_SHARED_LIBS "Build shared libraries" OFF)
set(COROZK_SANITIZE
    ""
    CACHE STRING "Sanitizers for corozk's own targets: empty, address,undefined or thread"
)
set_property(CACHE COROZK_SANITIZE PROPERTY STRINGS "" "address,undefined" "thread")

if(PROJECT_IS_TOP_LEVEL)
    get_property(corozk_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
    if(NOT CMAKE_BUILD_TYPE AND NOT corozk_multi_config)
        set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
    endif()
    set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

    # ccache where it is installed.
    find_program(COROZK_CCACHE ccache)
    mark_as_advanced(COROZK_CCACHE)
    if(COROZK_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
        set(CMAKE_CXX_COMPILER_LAUNCHER "${COROZK_CCACHE}")
    endif()
endif()

# corozk_compile_together(<target> <files>): so many files in one translation unit. Asio's templates
# are instantiated once for all of them, which is most of what a file costs: the library takes 80 s of
# CPU instead of 360 s (g++ 12.2, Release).
function(corozk_compile_together target files)
    if(NOT COROZK_UNITY)
        return()
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
    # g++ then takes our own files for headers, whose types others might define differently.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# The number of the binary interface: part of the shared library's name, and of its package's. Grows
# with each release that programs linked to an earlier one cannot use; see doc/versions.md.
set(COROZK_ABI 1)

# What our own targets are compiled with: `target_link_libraries(x PRIVATE corozk_project_options)`.
add_library(corozk_project_options INTERFACE)
target_compile_features(corozk_project_options INTERFACE cxx_std_20)
target_compile_options(
    corozk_project_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion ${COROZK_WARN_SHADOW}
)
# g++ 12 warns of its own std::string wherever it inlines `"text" + string` (GCC bug 105651), and of
# coroutines whose promise has its own new and delete where it inlines only one of the two.
target_compile_options(
    corozk_project_options
    INTERFACE
        "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-mismatched-new-delete>"
)
# A seventh of the time that several files together take to compile is g++'s garbage collection.
target_compile_options(
    corozk_project_options
    INTERFACE "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=524288>"
)
# Asio's timers include Boost.DateTime, for users of its clock: 5 % of what a file takes to compile.
target_compile_definitions(corozk_project_options INTERFACE BOOST_ASIO_DISABLE_BOOST_DATE_TIME)
if(COROZK_WERROR)
    target_compile_options(corozk_project_options INTERFACE -Werror)
endif()
target_compile_definitions(
    corozk_project_options INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>
)
# These link unoptimised code in a third of the time, and there are a hundred programs. Not where corozk is
# part of another project: options of a static library's links become those of its users.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_BUILD_TYPE STREQUAL "Debug")
    include(CheckLinkerFlag)
    foreach(linker lld gold)
        check_linker_flag(CXX -fuse-ld=${linker} COROZK_HAS_LINKER_${linker})
        if(COROZK_HAS_LINKER_${linker})
            target_link_options(corozk_project_options INTERFACE -fuse-ld=${linker})
            break()
        endif()
    endforeach()
endif()
if(COROZK_SANITIZE)
    # Line tables only: with Asio's templates full debug information makes g++ several times slower.
    target_compile_options(
        corozk_project_options
        INTERFACE -fsanitize=${COROZK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1
    )
    target_link_options(corozk_project_options INTERFACE -fsanitize=${COROZK_SANITIZE})
    if(COROZK_SANITIZE MATCHES "thread")
        # Unoptimised code under this sanitizer is too slow to be useful. g++ warns of each fence in
        # Asio's headers that the sanitizer does not follow, and of its own std::string.
        target_compile_options(
            corozk_project_options
            INTERFACE -O1
                      "$<$<CXX_COMPILER_ID:GNU>:-Wno-tsan;-Wno-array-bounds;-Wno-stringop-overflow>"
        )
    endif()
endif()

# corozk_set_asio_settings(<target>): what a library that uses Boost.Asio is compiled with.
#
# These settings change Asio's classes, so they are public, and all libraries of a program must have
# them: from two forms of an inline function the linker takes any one.
function(corozk_set_asio_settings target)
    if(COROZK_IO_URING)
        target_compile_definitions(
            ${target} PUBLIC BOOST_ASIO_HAS_IO_URING BOOST_ASIO_DISABLE_EPOLL COROZK_SAME_SETTINGS
        )
        target_link_libraries(${target} PUBLIC uring)
        set(first corozk/detail/io_uring_cancel.hpp)
        target_compile_options(
            ${target}
            PUBLIC
                "SHELL:-include $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/${first}>$<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${CMAKE_INSTALL_INCLUDEDIR}/${first}>"
        )
    endif()
endfunction()

# corozk_configure_library(<target>): flags, include folders, dependencies and properties of a
# library made of the files in src/.
function(corozk_configure_library target)
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(
        ${target}
        PUBLIC Boost::headers Threads::Threads
        PRIVATE fmt::fmt $<BUILD_INTERFACE:corozk_project_options>
                $<$<BOOL:${COROZK_TLS}>:OpenSSL::SSL> $<$<BOOL:${COROZK_SASL}>:CyrusSASL::sasl2>
    )
    if(COROZK_ZOOKEEPER_C_SOURCE_DIR)
        target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:ZooKeeper::zookeeper_st>)
        corozk_bundle_zookeeper(${target})
    else()
        target_link_libraries(${target} PRIVATE ZooKeeper::zookeeper_st)
    endif()
    target_compile_definitions(
        ${target} PRIVATE COROZK_BUILDING COROZK_HAS_TLS=$<BOOL:${COROZK_TLS}>
                          COROZK_HAS_SASL=$<BOOL:${COROZK_SASL}>
    )
    corozk_set_asio_settings(${target})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "SHARED_LIBRARY")
        target_compile_definitions(${target} PUBLIC COROZK_SHARED)
    endif()

    set_target_properties(
        ${target}
        PROPERTIES VERSION "${COROZK_ABI}.${PROJECT_VERSION}"
                   SOVERSION "${COROZK_ABI}"
                   CXX_EXTENSIONS OFF
                   CXX_VISIBILITY_PRESET hidden
                   VISIBILITY_INLINES_HIDDEN ON
    )
endfunction()
