// SPDX-License-Identifier: Apache-2.0
#include "report/row.hpp"
#include "report/section.hpp"
#include "table.hpp"

#include <fmt/format.h>

namespace corozk::bench {

namespace {

using boost::json::object;

std::string in_sessions(const object& row) {
    double sessions = figure_of(row, "sessions");
    return sessions > 1 ? fmt::format("\n{} sessions", count_text(sessions)) : "";
}

std::string queue_category(const object& row) {
    std::string what = plain_words(text_of(row, "operation"));
    if (auto at = what.find(" + "); at != what.npos)
        what.replace(at, 3, " +\n");
    if (double workers = figure_of(row, "waiters"); workers > 1)
        what += fmt::format("\n{} at once", count_text(workers));
    return what + in_sessions(row);
}

std::string counter_category(const object& row) {
    return counted(static_cast<std::size_t>(figure_of(row, "waiters")), "client") +
           in_sessions(row);
}

}  // namespace

section queue_section() {
    section s;
    s.workload = "queue";
    s.heading = "Through a queue";
    s.question = "How many items per second go through a queue?";
    s.method =
        "Each row sends its items through a fresh queue and checks that each came out once. The "
        "floor is what the bare C client reaches with as many creates or deletes in the same "
        "minute, many in flight at a time.";
    s.reading = "Several items in one request can be faster than the floor.";
    s.columns = {{"at a time", "waiters", count_text},
                 {"sessions", "sessions", count_text},
                 {"items/s", "ops_per_s", count_text},
                 {"floor/s", "floor_ops_per_s", count_text},
                 {"/ floor", "floor_ratio", ratio_text},
                 {"slower than corozk", "times_corozk", ratio_text},
                 {"requests per item", "requests_per_operation", figure_text},
                 {"bytes", "bytes_per_operation", bytes_text}};
    s.bars = {{.name = "queue",
               .title = "Items per second",
               .caption = "The higher, the quicker.",
               .y_title = "items per second",
               .workload = "queue",
               .figures = {{"ops_per_s", queue_category},
                           {"floor_ops_per_s", queue_category, "c_client", "bare C client"}}}};
    return s;
}

section counter_section() {
    section s;
    s.workload = "counter";
    s.heading = "Adding to one counter";
    s.question = "How many additions per second does one counter take?";
    s.method =
        "Each client adds 1 repeatedly and waits for each result; the sum is checked. Clients of "
        "one session share one object, which combines concurrent additions. The floor is one "
        "conditional set after the other by the bare C client.";
    s.reading = "Clients in sessions of their own conflict.";
    s.columns = {{"clients", "waiters", count_text},
                 {"sessions", "sessions", count_text},
                 {"additions/s", "ops_per_s", count_text},
                 {"floor/s", "floor_ops_per_s", count_text},
                 {"/ floor", "floor_ratio", ratio_text},
                 {"slower than corozk", "times_corozk", ratio_text},
                 {"p50", "latency_us.p50", microseconds_text},
                 {"p99", "latency_us.p99", microseconds_text},
                 {"requests", "requests_per_operation", figure_text},
                 {"least share of a client", "least_share", figure_text}};
    s.bars = {{.name = "counter",
               .title = "Additions per second",
               .caption = "The higher, the quicker.",
               .y_title = "additions per second",
               .workload = "counter",
               .figures = {{"ops_per_s", counter_category},
                           {"floor_ops_per_s", counter_category, "c_client", "bare C client"}}}};
    return s;
}

section uncontended_section() {
    section s;
    s.workload = "uncontended";
    s.heading = "Uncontended lock";
    s.question = "What does a lock cost beyond a bare create and delete?";
    s.method = "All take turns in small blocks, on the same server with the same noise.";
    s.reading = "The ratio: with one round trip for each of the two, it would be 1.";
    s.columns = {{"acquire + release p50", "cycle_us.p50", microseconds_text},
                 {"p99", "cycle_us.p99", microseconds_text},
                 {"/ floor", "floor_ratio", ratio_text},
                 {"slower than corozk", "times_corozk", ratio_text},
                 {"per second", "ops_per_s", count_text},
                 {"requests", "requests_per_cycle", figure_text},
                 {"bytes", "bytes_per_cycle", bytes_text},
                 {"client CPU", "client_cpu_us_per_cycle", microseconds_text}};
    return s;
}

section ops_section() {
    section s;
    s.workload = "ops";
    s.heading = "Single requests";
    s.question = "What does the library add to a request of the C client?";
    s.method =
        "Requests one after the other, then many in flight at a time; the CPU time is that of the "
        "client process.";
    s.reading = "The ratio to the bare C client, of times and then of rates.";
    s.labels = {"operation"};
    s.columns = {{"in flight", "in_flight", count_text},
                 {"p50", "latency_us.p50", microseconds_text},
                 {"p99", "latency_us.p99", microseconds_text},
                 {"per second", "ops_per_s", count_text},
                 {"bare C client/s", "c_client_ops_per_s", count_text},
                 {"/ bare C client", "ratio_to_c_client", ratio_text},
                 {"client CPU each", "client_cpu_us_per_request", microseconds_text}};
    return s;
}

}  // namespace corozk::bench
