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
  ``ZooKeeper_HAS_TLS``, ``ZooKeeper_HAS_SASL``
    Whether the library was built with ``zookeeper_init_ssl`` and ``zookeeper_init_sasl``. The
    imported target defines the macro with which the header declares them.
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
    # A static library does not say what else it needs, which is at most this; a shared one does.
    set(_zookeeper_needs "")
    if(ZooKeeper_ST_LIBRARY MATCHES "\\.a$")
        foreach(_zookeeper_name IN ITEMS ssl crypto sasl2)
            find_library(ZooKeeper_${_zookeeper_name}_LIBRARY NAMES ${_zookeeper_name})
            mark_as_advanced(ZooKeeper_${_zookeeper_name}_LIBRARY)
            if(ZooKeeper_${_zookeeper_name}_LIBRARY)
                list(APPEND _zookeeper_needs ${_zookeeper_name})
            endif()
        endforeach()
    endif()
    function(_zookeeper_check macro function result)
        include(CheckCXXSourceCompiles)
        set(CMAKE_REQUIRED_INCLUDES "${ZooKeeper_INCLUDE_DIR}")
        set(CMAKE_REQUIRED_DEFINITIONS "-D${macro}")
        set(CMAKE_REQUIRED_LIBRARIES "${ZooKeeper_ST_LIBRARY}" ${_zookeeper_needs})
        set(CMAKE_REQUIRED_QUIET ON)
        check_cxx_source_compiles(
            "#include <zookeeper/zookeeper.h>
             int main() { auto* volatile f = &${function}; return f == nullptr; }"
            ${result}
        )
    endfunction()
    _zookeeper_check(HAVE_OPENSSL_H zookeeper_init_ssl ZooKeeper_HAS_TLS)
    _zookeeper_check(HAVE_CYRUS_SASL_H zookeeper_init_sasl ZooKeeper_HAS_SASL)

    if(NOT TARGET ZooKeeper::zookeeper_st)
        add_library(ZooKeeper::zookeeper_st UNKNOWN IMPORTED)
        set_target_properties(
            ZooKeeper::zookeeper_st
            PROPERTIES IMPORTED_LOCATION "${ZooKeeper_ST_LIBRARY}"
                       INTERFACE_INCLUDE_DIRECTORIES "${ZooKeeper_INCLUDE_DIR}"
        )
        if(ZooKeeper_HAS_TLS)
            set_property(
                TARGET ZooKeeper::zookeeper_st APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS
                                                               HAVE_OPENSSL_H
            )
        endif()
        if(ZooKeeper_HAS_SASL)
            set_property(
                TARGET ZooKeeper::zookeeper_st APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS
                                                               HAVE_CYRUS_SASL_H
            )
        endif()
        set(_zookeeper_links "")
        if(ZooKeeper_HAS_TLS AND ZooKeeper_ST_LIBRARY MATCHES "\\.a$")
            list(APPEND _zookeeper_links ssl crypto)
        endif()
        # Whoever uses SASL calls its library, too.
        if(ZooKeeper_HAS_SASL)
            list(APPEND _zookeeper_links sasl2)
        endif()
        set_property(
            TARGET ZooKeeper::zookeeper_st PROPERTY INTERFACE_LINK_LIBRARIES ${_zookeeper_links}
        )
        unset(_zookeeper_links)
    endif()

    if(NOT ZooKeeper_FIND_QUIETLY)
        set(_zookeeper_tls "without TLS")
        set(_zookeeper_sasl "without SASL")
        if(ZooKeeper_HAS_TLS)
            set(_zookeeper_tls "with TLS")
        endif()
        if(ZooKeeper_HAS_SASL)
            set(_zookeeper_sasl "with SASL")
        endif()
        message(
            STATUS
                "ZooKeeper C client ${ZooKeeper_VERSION}, ${_zookeeper_tls}, ${_zookeeper_sasl}: ${ZooKeeper_ST_LIBRARY}"
        )
        unset(_zookeeper_tls)
        unset(_zookeeper_sasl)
    endif()
endif()
