# SPDX-License-Identifier: Apache-2.0
#
# One consumer test; see CMakeLists.txt, which passes the variables.

cmake_minimum_required(VERSION 3.25)

function(run)
    list(JOIN ARGV " " shown)
    message(STATUS "${shown}")
    execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(KIND STREQUAL "shared")
    set(shared ON)
else()
    set(shared OFF)
endif()
cmake_host_system_information(RESULT jobs QUERY NUMBER_OF_LOGICAL_CORES)
if(jobs GREATER 2)
    set(jobs 2)
endif()

# Always from nothing, except the compiled objects of a source tree.
set(prefix "${WORK}/prefix")
set(build "${WORK}/build")
file(REMOVE_RECURSE "${prefix}")
if(NOT HOW STREQUAL "add_subdirectory")
    file(REMOVE_RECURSE "${build}")
    run("${CMAKE_COMMAND}" --install "${INSTALL_FROM}" --prefix "${prefix}" --config "${CONFIG}")
endif()

run("${CMAKE_COMMAND}"
    -S "${SOURCE}/test/consumer/${HOW}"
    -B "${build}"
    -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${CXX}"
    "-DCMAKE_C_COMPILER=${CC}"
    "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
    "-DCMAKE_BUILD_TYPE=None"
    "-DCOROZK_UNITY=${UNITY}"
    "-DCMAKE_PREFIX_PATH=${prefix}"
    "-DBUILD_SHARED_LIBS=${shared}"
    "-DCOROZK_SOURCE=${SOURCE}"
    "-DCOROZK_EXPECTED_VERSION=${VERSION}"
    -DCOROZK_INSTALL=ON
    --no-warn-unused-cli
)
run("${CMAKE_COMMAND}" --build "${build}" --parallel ${jobs})
run("${build}/consumer")

if(NOT HOW STREQUAL "find_package")
    return()
endif()

# Nothing in the package may point to where it was made.
file(GLOB_RECURSE texts "${prefix}/*.cmake" "${prefix}/*.pc" "${prefix}/*.hpp")
foreach(file IN LISTS texts)
    file(READ "${file}" text)
    string(FIND "${text}" "${SOURCE}" at)
    if(NOT at EQUAL -1)
        message(FATAL_ERROR "${file} names the source tree ${SOURCE}")
    endif()
endforeach()

# corozk_refused(<version> <components> <reason> [<option of cmake>...])
function(corozk_refused version components reason)
    execute_process(
        COMMAND
            "${CMAKE_COMMAND}" -S "${SOURCE}/test/consumer/${HOW}" -B "${WORK}/refused" -G
            "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_PREFIX_PATH=${prefix}"
            "-DCOROZK_EXPECTED_VERSION=${version}" "-DCOROZK_COMPONENTS=${components}" ${ARGN}
        RESULT_VARIABLE result
        OUTPUT_QUIET
        ERROR_VARIABLE error
    )
    file(REMOVE_RECURSE "${WORK}/refused")
    if(result EQUAL 0 OR NOT error MATCHES "${reason}")
        message(
            FATAL_ERROR
                "find_package(corozk ${version} ${components}) was not refused so:\n${error}"
        )
    endif()
endfunction()

# A version that does not fit is refused, and a component that does not exist.
corozk_refused(0.0.1 "" "requested version")
corozk_refused(99.0.0 "" "requested version")
corozk_refused("${VERSION}" "COMPONENTS;nonsense" "component 'nonsense' unknown")

# Nor is any other Boost than the library's, here one with nothing but a version.
set(boost "${WORK}/other-boost")
file(WRITE "${boost}/BoostConfig.cmake" "add_library(Boost::headers INTERFACE IMPORTED)\n")
file(WRITE "${boost}/BoostConfigVersion.cmake"
     "set(PACKAGE_VERSION 1.999.0)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n"
)
corozk_refused(
    "${VERSION}" "" "compiled[ \n]+with[ \n]+Boost[ \n]+1\\.[0-9]+,.*Boost[ \n]+1\\.999[ \n]+was"
    "-DBoost_DIR=${boost}"
)

if(PKG_CONFIG)
    set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig:$ENV{PKG_CONFIG_PATH}")
    execute_process(
        COMMAND "${PKG_CONFIG}" --cflags --libs "corozk = ${VERSION}"
        OUTPUT_VARIABLE flags
        OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY
    )
    separate_arguments(flags UNIX_COMMAND "${flags}")
    run("${CXX}" -std=c++20 "-DCOROZK_EXPECTED_VERSION=\"${VERSION}\""
        "${SOURCE}/test/consumer/main.cpp" ${flags} "-Wl,-rpath,${prefix}/${LIBDIR}" -o
        "${build}/consumer-pkg-config"
    )
    run("${build}/consumer-pkg-config")
endif()
