# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
FindZooKeeper
-------------

ZooKeeper's single-threaded C client.

Imported target
  ``ZooKeeper::zookeeper_st``

Result variables
  ``ZooKeeper_FOUND``, ``ZooKeeper_VERSION``

Cache variables
  ``ZooKeeper_INCLUDE_DIR``
    The folder that holds ``zookeeper/zookeeper.h``.
  ``ZooKeeper_ST_LIBRARY``
    The library file.
#]=======================================================================]

find_path(
    ZooKeeper_INCLUDE_DIR
    NAMES zookeeper/zookeeper.h
    DOC "Folder that holds zookeeper/zookeeper.h"
)
find_library(
    ZooKeeper_ST_LIBRARY
    NAMES zookeeper_st
    DOC "ZooKeeper's single-threaded C client"
)
mark_as_advanced(ZooKeeper_INCLUDE_DIR ZooKeeper_ST_LIBRARY)

unset(ZooKeeper_VERSION)
if(ZooKeeper_INCLUDE_DIR AND EXISTS "${ZooKeeper_INCLUDE_DIR}/zookeeper/zookeeper_version.h")
    file(STRINGS "${ZooKeeper_INCLUDE_DIR}/zookeeper/zookeeper_version.h" _zookeeper_lines
         REGEX "^#define[ \t]+ZOO_"
    )
    if(_zookeeper_lines MATCHES "ZOO_VERSION[ \t]+\"([0-9.]+)")
        set(ZooKeeper_VERSION "${CMAKE_MATCH_1}")
    elseif(_zookeeper_lines MATCHES
           "ZOO_MAJOR_VERSION[ \t]+([0-9]+).*ZOO_MINOR_VERSION[ \t]+([0-9]+).*ZOO_PATCH_VERSION[ \t]+([0-9]+)"
    )
        set(ZooKeeper_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
    endif()
    unset(_zookeeper_lines)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
    ZooKeeper
    REQUIRED_VARS ZooKeeper_ST_LIBRARY ZooKeeper_INCLUDE_DIR
    VERSION_VAR ZooKeeper_VERSION
    REASON_FAILURE_MESSAGE
        "corozk needs ZooKeeper's single-threaded C client: on Debian install the package libzookeeper-st-dev (it conflicts with libzookeeper-mt-dev). Elsewhere set ZooKeeper_INCLUDE_DIR and ZooKeeper_ST_LIBRARY."
)

if(ZooKeeper_FOUND)
    if(NOT TARGET ZooKeeper::zookeeper_st)
        add_library(ZooKeeper::zookeeper_st UNKNOWN IMPORTED)
        set_target_properties(
            ZooKeeper::zookeeper_st
            PROPERTIES IMPORTED_LOCATION "${ZooKeeper_ST_LIBRARY}"
                       INTERFACE_INCLUDE_DIRECTORIES "${ZooKeeper_INCLUDE_DIR}"
        )
        # A static library does not say what else it needs, which is at most this.
        if(ZooKeeper_ST_LIBRARY MATCHES "\\.a$")
            foreach(_zookeeper_name IN ITEMS ssl crypto sasl2)
                find_library(ZooKeeper_${_zookeeper_name}_LIBRARY NAMES ${_zookeeper_name})
                mark_as_advanced(ZooKeeper_${_zookeeper_name}_LIBRARY)
                if(ZooKeeper_${_zookeeper_name}_LIBRARY)
                    set_property(
                        TARGET ZooKeeper::zookeeper_st APPEND PROPERTY INTERFACE_LINK_LIBRARIES
                                                                       ${_zookeeper_name}
                    )
                endif()
            endforeach()
        endif()
    endif()

    if(NOT ZooKeeper_FIND_QUIETLY)
        message(STATUS "ZooKeeper C client ${ZooKeeper_VERSION}: ${ZooKeeper_ST_LIBRARY}")
    endif()
endif()
