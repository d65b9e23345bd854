# SPDX-License-Identifier: Apache-2.0
#
# cmake -D PROGRAM=test_schedule -P self_test.cmake: planted failures are found by random schedules and
# by the exhaustive exploration, whether something does not hold, throws, crashes or hangs; seed and
# schedule reproduce them, word for word. Of the orders of clients that do the same one is played.

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

# A crash ends the program by its signal, after it was told.
function(run_and_crash variable)
    execute_process(
        COMMAND "${PROGRAM}" ${ARGN} RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE errors
    )
    if(status MATCHES "^[0-9]+$")
        message(FATAL_ERROR "${ARGN}: status ${status}, and no signal\n${errors}")
    endif()
    set(${variable} "${errors}" PARENT_SCOPE)
endfunction()

# What its groups have matched: match_1, match_2, ...
function(require_match text pattern)
    if(NOT text MATCHES "${pattern}")
        message(FATAL_ERROR "no ${pattern} in:\n${text}")
    endif()
    foreach(i RANGE 1 3)
        set(match_${i} "${CMAKE_MATCH_${i}}" PARENT_SCOPE)
    endforeach()
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

# What is thrown, by a handler or by a check in the end, is a failure like others.
foreach(mode IN ITEMS random exhaustive)
    foreach(by IN ITEMS handler check)
        run(1 found --scenario planted.${by} --${mode} --faults 1 --seconds 120)
        require_match("${found}" "thrown: planted by a ${by}\n *again: --replay ([^\n]+)")
        run(1 again --replay "${match_1}")
        require_match("${again}" "thrown: planted by a ${by}")
    endforeach()
endforeach()

# What ends the program names its seed and its schedule, too.
set(crash "crashed by SIGABRT")
set(hang "it takes longer than --patience allows")
foreach(how IN ITEMS crash hang)
    set(ended "FAILED( with seed ([0-9]+))?\n  ${${how}}\n  again: --replay ([^\n]+)\n")
    foreach(mode IN ITEMS random exhaustive)
        set(options --scenario planted.${how} --faults 1 --patience 2 --${mode})
        run_and_crash(found ${options} --seconds 120)
        require_match("${found}" "${ended}")
        set(seed "${match_2}")
        set(schedule "${match_3}")
        run_and_crash(again --patience 2 --replay "${schedule}")
        require_match("${again}" "${ended}")
        if(NOT match_3 STREQUAL schedule)
            message(FATAL_ERROR "another schedule than ${schedule}:\n${again}")
        endif()
        if(mode STREQUAL "random")
            run_and_crash(again ${options} --seed "${seed}" --schedules 1)
            if(NOT again STREQUAL found)
                message(FATAL_ERROR "the seed gives another schedule:\n${found}${again}")
            endif()
        elseif(seed)
            message(FATAL_ERROR "a seed, without random schedules:\n${found}")
        endif()
    endforeach()
endforeach()

# Every number may be a seed.
run(0 none ${planted} --random --faults 0 --seed 0 --schedules 1)

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
                       "--replay;planted.failure:eager:1:-1:0x999999999999" "--switches;-2"
                       "--seconds;-1" "--seconds;nan" "--seconds;inf" "--seconds;1e300"
)
    run(2 wrong ${words})
    if(wrong)
        message(FATAL_ERROR "${words} is understood:\n${wrong}")
    endif()
endforeach()
foreach(option IN ITEMS --replay --scenario)
    execute_process(
        COMMAND "${PROGRAM}" ${option} "" RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_QUIET
    )
    if(NOT status EQUAL 2 OR output)
        message(FATAL_ERROR "${option} without a name is understood:\n${output}")
    endif()
endforeach()
run(0 help --help)

# Next to no time is not the same as no limit; -1 is, for --switches.
run(0 short --scenario lock.3 --switches -1 --seconds 0.0004)
require_match("${short}" "lock.3 +[0-9]+ .* no")

run(0 all --scenario planted.others --faults 0 --seconds 120)
run(0 one --scenario planted.equals --faults 0 --seconds 120)
if(NOT all MATCHES "planted.others +6 " OR NOT one MATCHES "planted.equals +1 ")
    message(FATAL_ERROR "three clients, a request each: not six orders, or not one of equals:\n${all}${one}")
endif()
