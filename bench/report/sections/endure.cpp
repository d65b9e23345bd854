// SPDX-License-Identifier: Apache-2.0
#include "report/row.hpp"
#include "report/section.hpp"
#include "table.hpp"

namespace corozk::bench {

section endure_section() {
    section s;
    s.workload = "endure";
    s.heading = "For a long time";
    s.question = "Does anything grow while a lock is handed over for hours?";
    s.method =
        "Coroutines on many sessions of one process hand a lock over, and queue again when they "
        "have released it. The time is divided into 24 parts; shown is the minimum that the "
        "process occupied in each: bytes that malloc has handed out, resident memory, descriptors, "
        "threads.";
    s.reading =
        "Lines that stay level after the first quarter. Memory that grows steadily is a leak, "
        "however "
        "slow; latencies that grow say that something is searched that gets longer.";
    s.labels = {"case"};
    s.columns = {{"hand-overs/s", "handovers_per_s", count_text},
                 {"p50", "handover_us.p50", microseconds_text},
                 {"p99", "handover_us.p99", microseconds_text},
                 {"requests/hand-over", "requests_per_handover", figure_text},
                 {"heap", "heap_bytes", bytes_text},
                 {"resident", "resident_bytes", bytes_text},
                 {"descriptors", "descriptors", count_text},
                 {"threads", "threads", count_text}};
    auto over_time = [](std::string_view name,
                        std::string_view title,
                        std::string_view caption,
                        std::string_view y_title,
                        plot_unit unit,
                        double scale,
                        std::vector<fixed_line> lines) {
        by_number b;
        b.name = name;
        b.title = title;
        b.caption = caption;
        b.y_title = y_title;
        b.unit = unit;
        b.scale = scale;
        b.workload = "endure";
        b.fixed = std::move(lines);
        b.x_key = "passed_percent";
        b.x_title = "time";
        b.x_axis = plot_axis::percent;
        return b;
    };
    s.lines = {
        over_time("endure-memory",
                  "Memory during hand-overs of {}",
                  "What the process occupies, and dashed, what malloc has handed out.",
                  "memory",
                  plot_unit::bytes,
                  1,
                  {{"resident_bytes", "resident", "ours"}, {"heap_bytes", "heap", "ours", true}}),
        over_time("endure-handovers",
                  "Hand-overs of {}",
                  "How long half of all take at most, and dashed, 99 of 100.",
                  "latency",
                  plot_unit::seconds,
                  1e-6,
                  {{"handover_us.p50", "hand-over, p50", "ours"},
                   {"handover_us.p99", "hand-over, p99", "ours", true}}),
        over_time("endure-handles",
                  "Descriptors and threads during hand-overs of {}",
                  "Those of the whole process.",
                  "number",
                  plot_unit::count,
                  1,
                  {{"descriptors", "descriptors", "ours"}, {"threads", "threads", "ours", true}}),
    };
    return s;
}

}  // namespace corozk::bench
