// SPDX-License-Identifier: Apache-2.0
#include "report/row.hpp"
#include "report/section.hpp"
#include "table.hpp"

namespace corozk::bench {

section load_section() {
    section s;
    s.workload = "load";
    s.heading = "Under load";
    s.question = "How does a lock behave while other clients use the servers?";
    s.method =
        "The capacity is measured first: sets by the bare C client, many in flight at a time. Then "
        "one client sends a part of that at fixed times, while a lock is handed over a hundred "
        "times a second, an uncontended lock is acquired as often, and a node is set as often by "
        "the bare C client. All latencies are measured from when the operations were due.";
    s.reading =
        "At which load a lock gets slower, and whether it does so before a bare set. The dashed "
        "lines (p99) show what one of a hundred waits for; a short run says little of them.";
    s.labels = {"case"};
    s.columns = {{"sets/s by others", "load_per_s", count_text},
                 {"hand-over p50", "handover_us.p50", microseconds_text},
                 {"p99", "handover_us.p99", microseconds_text},
                 {"acquire p50", "acquire_us.p50", microseconds_text},
                 {"p99", "acquire_us.p99", microseconds_text},
                 {"bare set p50", "set_us.p50", microseconds_text},
                 {"p99", "set_us.p99", microseconds_text},
                 {"server cores", "server_cores", figure_text}};
    s.lines = {
        {.name = "load",
         .title = "What load does to {}",
         .caption = "How long half of all take at most, and dashed, 99 of 100.",
         .y_title = "latency",
         .unit = plot_unit::seconds,
         .scale = 1e-6,
         .workload = "load",
         .fixed = {{"handover_us.p50", "hand-over, p50", "ours"},
                   {"handover_us.p99", "hand-over, p99", "ours", true},
                   {"acquire_us.p50", "acquire, p50", "acquire"},
                   {"acquire_us.p99", "acquire, p99", "acquire", true},
                   {"set_us.p50", "bare set, p50", "set"},
                   {"set_us.p99", "bare set, p99", "set", true}},
         .x_key = "load_percent",
         .x_title = "load",
         .x_axis = plot_axis::percent},
    };
    return s;
}

}  // namespace corozk::bench
