# SPDX-License-Identifier: Apache-2.0
#
# `corozk_catch`: Catch2 2.13 (Debian 12), or Catch2 3 (Debian 13) under the names of 2.13.

find_package(Catch2 2.13 QUIET)
if(NOT Catch2_FOUND)
    find_package(Catch2 3 QUIET)
endif()

if(Catch2_FOUND AND NOT TARGET corozk_catch)
    add_library(corozk_catch INTERFACE)
    target_link_libraries(corozk_catch INTERFACE Catch2::Catch2)
    if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
        target_include_directories(
            corozk_catch INTERFACE "${CMAKE_CURRENT_LIST_DIR}/../test/catch_3"
        )
    endif()
endif()
