# SPDX-License-Identifier: Apache-2.0
#
# cmake -D PORT=... -D PACKAGES=... -D BUILD=... -D FEATURES=... -P vcpkg_stand_in.cmake: runs a portfile without
# vcpkg, whose functions it replaces by the commands that they run, for one build type and with the
# packages of this system.

cmake_minimum_required(VERSION 3.25)

set(CURRENT_PORT_DIR "${PORT}")
set(CURRENT_PACKAGES_DIR "${PACKAGES}")
set(PORT corozk)

function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_check_features)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" OUT_FEATURE_OPTIONS FEATURES)
    set(options "")
    while(arg_FEATURES)
        list(POP_FRONT arg_FEATURES feature option)
        if(feature IN_LIST FEATURES)
            list(APPEND options "-D${option}=ON")
        else()
            list(APPEND options "-D${option}=OFF")
        endif()
    endwhile()
    set(${arg_OUT_FEATURE_OPTIONS} "${options}" PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" SOURCE_PATH OPTIONS)
    run("${CMAKE_COMMAND}" -S "${arg_SOURCE_PATH}" -B "${BUILD}" -G Ninja
        -DCMAKE_BUILD_TYPE=Release "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}"
        -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF ${arg_OPTIONS}
    )
endfunction()

function(vcpkg_cmake_install)
    run("${CMAKE_COMMAND}" --build "${BUILD}" --parallel 2 --target install)
endfunction()

# To where find_package looks as well.
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" CONFIG_PATH "")
    if(NOT EXISTS "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/${PORT}Config.cmake")
        message(FATAL_ERROR "there is no ${arg_CONFIG_PATH}/${PORT}Config.cmake")
    endif()
endfunction()

function(vcpkg_fixup_pkgconfig)
    if(NOT EXISTS "${CURRENT_PACKAGES_DIR}/lib/pkgconfig/${PORT}.pc")
        message(FATAL_ERROR "there is no lib/pkgconfig/${PORT}.pc")
    endif()
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" FILE_LIST)
    foreach(file IN LISTS arg_FILE_LIST)
        file(COPY_FILE "${file}" "${CURRENT_PACKAGES_DIR}/copyright")
    endforeach()
endfunction()

include("${CURRENT_PORT_DIR}/portfile.cmake")
