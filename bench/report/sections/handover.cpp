// SPDX-License-Identifier: Apache-2.0
#include "report/row.hpp"
#include "report/section.hpp"
#include "table.hpp"

namespace corozk::bench {

section handover_section() {
    section s;
    s.workload = "handover";
    s.heading = "Hand-overs";
    s.question = "How long does it take until the next waiter has the lock, and what does it cost?";
    s.method =
        "Waiters queue for a lock (or permit or leadership) that is held; then it is handed over "
        "from one to the next. A hand-over lasts from right before the release until the next "
        "waiter has it.";
    s.reading =
        "Whether a line rises with the number of waiters: then every hand-over costs more, the "
        "more wait.";
    s.lines = {
        {.name = "handover-latency",
         .title = "Passing {} on",
         .caption =
             "Median time from right before a release until the next waiter has it. A cross: "
             "failed with this number of waiters.",
         .y_title = "hand-over, median",
         .unit = plot_unit::seconds,
         .key = "handover_us.p50",
         .scale = 1e-6,
         .workload = "handover"},
        {.name = "bytes",
         .title = "Network bytes for each hand-over of {}",
         .caption = "What clients and server send each other for one hand-over.",
         .y_title = "bytes per hand-over",
         .unit = plot_unit::bytes,
         .key = "bytes_per_handover",
         .workload = "handover"},
        {.name = "requests",
         .title = "Requests for each hand-over of {}",
         .caption = "Requests of all clients for one hand-over.",
         .y_title = "requests per hand-over",
         .key = "requests_per_handover",
         .workload = "handover"},
        {.name = "memory",
         .title = "Memory of each waiter for {}",
         .caption =
             "What the client process grows by while all queue, divided by their number; Java "
             "without what its heap has free after a collection.",
         .y_title = "memory per waiter",
         .unit = plot_unit::bytes,
         .key = "memory_per_waiter_bytes",
         .workload = "handover"},
    };
    return s;
}

section demo_section() {
    section s = handover_section();
    s.workload = "demo";
    s.heading = "Thousands of waiters on one lock";
    s.lines.clear();  // they are those of hand-overs
    return s;
}

section many_section() {
    section s;
    s.workload = "many";
    s.heading = "A great many waiters";
    s.question = "How many can wait on one thread and one session, and where does the memory go?";
    s.method =
        "As hand-overs, with corozk's lock only. Memory is what malloc gave out, and then that of "
        "one waiter, measured in several forms.";
    s.reading = "Memory for each waiter, which should not depend on their number.";
    s.columns = {{"waiters", "waiters", count_text},
                 {"locks", "locks", count_text},
                 {"queued within", "queue_s", seconds_text},
                 {"all served within", "drain_s", seconds_text},
                 {"hand-over p50", "handover_us.p50", microseconds_text},
                 {"p99", "handover_us.p99", microseconds_text},
                 {"requests each", "requests_per_waiter", figure_text},
                 {"memory each", "memory_per_waiter_bytes", bytes_text},
                 {"a coroutine on a timer", "memory.coroutine_on_a_timer_bytes", bytes_text},
                 {"acquire, callback", "memory.acquire_with_callback_bytes", bytes_text},
                 {"acquire, tuple", "memory.acquire_with_tuple_token_bytes", bytes_text},
                 {"acquire in a coroutine", "memory.acquire_in_coroutine_bytes", bytes_text}};
    return s;
}

section join_section() {
    section s;
    s.workload = "join";
    s.heading = "Joining a long queue";
    s.question = "What does one more waiter cost if thousands already wait?";
    s.method =
        "One waiter joins; the time is from its call until it waits and no request is in flight.";
    s.reading = "Bytes: a recipe that lists the queue receives all the names in it.";
    return s;
}

}  // namespace corozk::bench
