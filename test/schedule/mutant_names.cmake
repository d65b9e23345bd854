# SPDX-License-Identifier: Apache-2.0
#
# cmake -D PROGRAM=test_schedule -D MUTATE=tools/mutate -P mutant_names.cmake: every scenario that a mutant
# names can be played. tools/mutants takes what fails for caught.

file(GLOB mutants "${CMAKE_CURRENT_LIST_DIR}/mutants/*.mutant")
execute_process(
    COMMAND "${MUTATE}" --show scenarios ${mutants} OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY
)
string(REGEX MATCHALL "[^ \n]+" names "${names}")
list(REMOVE_DUPLICATES names)
foreach(name IN LISTS names)
    foreach(order IN ITEMS --random --exhaustive)
        execute_process(
            COMMAND "${PROGRAM}" --scenario "${name}" ${order} --faults 0 --schedules 1
            RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output
        )
        if(NOT status EQUAL 0)
            message(FATAL_ERROR "${name} ${order}: status ${status}\n${output}")
        endif()
    endforeach()
endforeach()
