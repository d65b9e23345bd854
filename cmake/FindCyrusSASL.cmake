# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
FindCyrusSASL
-------------

Cyrus SASL, with which clients authenticate to servers that demand it.

Imported target
  ``CyrusSASL::sasl2``

Result variable
  ``CyrusSASL_FOUND``
#]=======================================================================]

find_path(CyrusSASL_INCLUDE_DIR NAMES sasl/sasl.h DOC "Folder that holds sasl/sasl.h")
find_library(CyrusSASL_LIBRARY NAMES sasl2 DOC "Cyrus SASL")
mark_as_advanced(CyrusSASL_INCLUDE_DIR CyrusSASL_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
    CyrusSASL
    REQUIRED_VARS CyrusSASL_LIBRARY CyrusSASL_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "Debian's package is libsasl2-dev."
)

if(CyrusSASL_FOUND AND NOT TARGET CyrusSASL::sasl2)
    add_library(CyrusSASL::sasl2 UNKNOWN IMPORTED)
    set_target_properties(
        CyrusSASL::sasl2 PROPERTIES IMPORTED_LOCATION "${CyrusSASL_LIBRARY}"
                                    INTERFACE_INCLUDE_DIRECTORIES "${CyrusSASL_INCLUDE_DIR}"
    )
endif()
