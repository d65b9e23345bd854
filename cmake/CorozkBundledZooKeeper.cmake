# SPDX-License-Identifier: Apache-2.0
#
# The C client compiled into the library, from COROZK_ZOOKEEPER_C_SOURCE_DIR: the folder
# zookeeper-client/zookeeper-client-c of ZooKeeper's source, 3.8 or later, with the files generated from
# zookeeper.jute. Its own CMakeLists.txt says how; here are the choices: no threads, and neither TLS nor
# SASL, which are ours (src/network). Makes
#
#   ZooKeeper::zookeeper_st   the headers alone
#   corozk_bundle_zookeeper(<library>)   adds the objects

cmake_path(ABSOLUTE_PATH COROZK_ZOOKEEPER_C_SOURCE_DIR NORMALIZE OUTPUT_VARIABLE zookeeper_source)
foreach(file IN ITEMS CMakeLists.txt include/zookeeper.h src/st_adaptor.c)
    if(NOT EXISTS "${zookeeper_source}/${file}")
        message(
            FATAL_ERROR
                "COROZK_ZOOKEEPER_C_SOURCE_DIR: ${zookeeper_source} has no ${file}: name the folder zookeeper-client/zookeeper-client-c of ZooKeeper's source"
        )
    endif()
endforeach()
foreach(file IN ITEMS zookeeper.jute.h zookeeper.jute.c)
    if(NOT EXISTS "${zookeeper_source}/generated/${file}")
        message(
            FATAL_ERROR
                "COROZK_ZOOKEEPER_C_SOURCE_DIR: ${zookeeper_source} has no generated/${file}: generate it, see doc/packaging.md"
        )
    endif()
endforeach()

# In a function, so that the choices are seen there alone.
function(corozk_add_zookeeper source build)
    set(CMAKE_POLICY_DEFAULT_CMP0077 NEW) # its options heed these variables
    set(CMAKE_WARN_DEPRECATED OFF)
    set(CMAKE_MESSAGE_LOG_LEVEL WARNING)
    set(WANT_SYNCAPI OFF)
    set(WANT_CPPUNIT OFF)
    set(WANT_SOCK_CLOEXEC ON)
    set(WITH_OPENSSL OFF)
    set(WITH_CYRUS_SASL OFF)
    # Another copy of the C client in the process must not be mistaken for this one.
    set(CMAKE_C_VISIBILITY_PRESET hidden)
    set(CMAKE_POSITION_INDEPENDENT_CODE ON)
    add_subdirectory("${source}" "${build}" EXCLUDE_FROM_ALL)
    foreach(target IN ITEMS zookeeper hashtable)
        target_compile_options(${target} PRIVATE -w)
    endforeach()
endfunction()
corozk_add_zookeeper("${zookeeper_source}" "${PROJECT_BINARY_DIR}/zookeeper-c")

# As they are installed: <zookeeper/zookeeper.h>.
file(GLOB headers CONFIGURE_DEPENDS "${zookeeper_source}/include/*.h")
set(zookeeper_include "${PROJECT_BINARY_DIR}/zookeeper-c-include")
foreach(header IN LISTS headers ITEMS "${zookeeper_source}/generated/zookeeper.jute.h")
    cmake_path(GET header FILENAME name)
    configure_file("${header}" "${zookeeper_include}/zookeeper/${name}" COPYONLY)
endforeach()
add_library(ZooKeeper::zookeeper_st INTERFACE IMPORTED)
target_include_directories(ZooKeeper::zookeeper_st INTERFACE "${zookeeper_include}")
message(STATUS "ZooKeeper C client: ${zookeeper_source}")

function(corozk_bundle_zookeeper target)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:zookeeper> $<TARGET_OBJECTS:hashtable>)
    target_link_libraries(${target} PRIVATE m)
endfunction()
