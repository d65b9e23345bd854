// SPDX-License-Identifier: Apache-2.0
#include "report/row.hpp"
#include "report/section.hpp"
#include "table.hpp"

namespace corozk::bench {

section judge_section() {
    section s;
    s.workload = "judge";
    s.heading = "Judged recipes";
    s.question = "Is it a correct lock (or semaphore), how fast is it, and what does it cost?";
    s.method =
        "Processes of the program report when they wait, hold and have released. The first one "
        "holds it until all others have queued; then it is handed over. Hand-overs are measured "
        "from outside, through two pipes, so that they take longer than within a program.";
    s.reading = "The verdict; then whether events and requests grow with the waiters (a herd).";
    s.columns = {{"waiters", "waiters", count_text},
                 {"may hold it", "limit", count_text},
                 {"verdict", "verdict", nullptr},
                 {"hand-overs", "handovers", count_text},
                 {"p50", "handover_us.p50", microseconds_text},
                 {"p99", "handover_us.p99", microseconds_text},
                 {"/ floor", "floor_ratio", ratio_text},
                 {"requests", "requests_per_handover", figure_text},
                 {"events", "notifications_per_handover", figure_text},
                 {"bytes", "bytes_per_handover", bytes_text},
                 {"herd", "herd", nullptr},
                 {"at once", "most_holders", count_text},
                 {"overtaken", "overtakings", count_text},
                 {"after a kill", "takeover_us.p50", microseconds_text}};
    return s;
}

section semaphore_section() {
    section s;
    s.workload = "semaphore";
    s.heading = "Hand-over of permits";
    s.question = "How soon is a free permit taken, for several limits?";
    s.method =
        "All permits are held while coroutines wait for one each; then each new holder releases at "
        "once, so that as many hand-overs are in progress as there are permits.";
    s.reading =
        "Hand-overs per second should grow with the limit; requests for each show at what cost.";
    s.columns = {{"permits", "limit", count_text},
                 {"waiters", "waiters", count_text},
                 {"sessions", "sessions", count_text},
                 {"free until taken p50", "handover_us.p50", microseconds_text},
                 {"p99", "handover_us.p99", microseconds_text},
                 {"hand-overs per second", "handovers_per_s", count_text},
                 {"requests", "requests_per_handover", figure_text},
                 {"events", "notifications_per_handover", figure_text},
                 {"bytes", "bytes_per_handover", bytes_text}};
    return s;
}

}  // namespace corozk::bench
