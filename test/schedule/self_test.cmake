# SPDX-License-Identifier: Apache-2.0
#
# cmake -D PROGRAM=test_schedule -P self_test.cmake: a planted failure is found by random schedules and
# by the exhaustive exploration; its seed and its schedule reproduce it, word for word. Of the orders of
# clients that do the same one is played.

function(run expected_status variable)
    execute_process(
        COMMAND "${PROGRAM}" ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
        ERROR_VARIABLE errors
    )
    if(NOT status EQUAL expected_status)
        message(FATAL_ERROR "${ARGN}: status ${status}\n${output}${errors}")
    endif()
    set(${variable} "${output}" PARENT_SCOPE)
endfunction()

set(planted --scenario planted.failure)
foreach(mode IN ITEMS random exhaustive)
    run(1 found ${planted} --${mode} --faults 1 --seconds 120)
    if(NOT found MATCHES "planted: b was the first\n *again: --replay ([^\n]+)")
        message(FATAL_ERROR "not found, or something else:\n${found}")
    endif()
    set(schedule "${CMAKE_MATCH_1}")
    run(1 once --replay "${schedule}")
    run(1 twice --replay "${schedule}")
    if(NOT once STREQUAL twice OR NOT once MATCHES "planted: b was the first")
        message(FATAL_ERROR "another time something else happens:\n${once}\n${twice}")
    endif()
    if(mode STREQUAL "random")
        string(REGEX MATCH "with seed ([0-9]+)" line "${found}")
        run(1 again ${planted} --random --seed ${CMAKE_MATCH_1} --schedules 1)
        string(FIND "${again}" "${schedule}" at)
        if(at EQUAL -1)
            message(FATAL_ERROR "the seed gives another schedule:\n${again}")
        endif()
    endif()
endforeach()

# Faults by their kinds: what is found is found again, and others do not happen.
run(1 found ${planted} --faults lose-answer+expire --seconds 120)
string(REGEX MATCH "--replay ([^\n]+)" line "${found}")
set(schedule "${CMAKE_MATCH_1}")
run(1 again --replay "${schedule}")
if(NOT schedule MATCHES ":lose-answer.expire:" OR NOT again MATCHES "planted: b was the first")
    message(FATAL_ERROR "not found again:\n${found}${again}")
endif()
if(again MATCHES "CUT|CANCEL")
    message(FATAL_ERROR "a fault that was not asked for:\n${again}")
endif()
run(2 wrong ${planted} --faults expire+nothing)

# Without the fault there is no failure, and without the failure the status is good.
run(0 none ${planted} --faults 0 --seconds 120 --schedules 200)
run(2 wrong --replay planted.failure:eager)

# What cannot be meant is refused, and nothing is played.
foreach(words IN ITEMS "--faults;2x" "--faults;-1" "--seed;-3" "--schedules;many" "--seconds;" "--nothing"
                       "--scenario;nobody" "--replay;planted.failure:eager:1:-1:0y"
)
    run(2 wrong ${words})
    if(wrong)
        message(FATAL_ERROR "${words} is understood:\n${wrong}")
    endif()
endforeach()
run(0 help --help)

run(0 all --scenario planted.others --faults 0 --seconds 120)
run(0 one --scenario planted.equals --faults 0 --seconds 120)
if(NOT all MATCHES "planted.others +6 " OR NOT one MATCHES "planted.equals +1 ")
    message(FATAL_ERROR "three clients, a request each: not six orders, or not one of equals:\n${all}${one}")
endif()
