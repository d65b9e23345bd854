// SPDX-License-Identifier: Apache-2.0
#include "report/row.hpp"
#include "report/section.hpp"
#include "table.hpp"

namespace corozk::bench {

namespace {

std::string share_text(double share) {
    return figure_text(100 * share) + " %";
}

}  // namespace

section sizing_section() {
    section s;
    s.workload = "sizing";
    s.heading = "What your servers can carry";
    s.question = "How many waiters and hand-overs do these servers carry?";
    s.method =
        "What writes, reads, events and listings cost a server is measured; load and hand-overs "
        "are computed from that, not measured.";
    s.reading =
        "A load near 100 % is the limit: from there on, cycles per second fall as waiters join.";
    s.columns = {{"waiters", "waiters", count_text},
                 {"locks", "locks", count_text},
                 {"servers", "servers", count_text},
                 {"held for", "hold_us", microseconds_text},
                 {"cycles/s", "predicted_turns_per_s", figure_text},
                 {"load of a server", "predicted_load", share_text},
                 {"hand-over", "predicted_handover_us", microseconds_text},
                 {"a write", "write_us", microseconds_text},
                 {"a read", "read_us", microseconds_text},
                 {"an event", "event_us", microseconds_text}};
    s.lines = {{.name = "sizing-load",
                .title = "Predicted load of a server by {}",
                .caption = "The fraction of the time that a server works.",
                .y_title = "load of a server",
                .unit = plot_unit::percent,
                .key = "predicted_load",
                .scale = 100,
                .workload = "sizing",
                .group_key = ""},
               {.name = "sizing-handover",
                .title = "Predicted hand-over of {}",
                .caption = "From a release until the next one has it.",
                .y_title = "hand-over",
                .unit = plot_unit::seconds,
                .key = "predicted_handover_us",
                .scale = 1e-6,
                .workload = "sizing",
                .group_key = ""}};
    return s;
}

section floor_section() {
    section s;
    s.workload = "floor";
    s.heading = "The floor";
    s.question = "What do the server and the C client need without corozk?";
    s.method =
        "Single requests in a bare loop around ZooKeeper's C client, and the same through corozk's "
        "client; then a token passed around a ring of sessions, step by step closer to what a lock "
        "does.";
    s.reading = "Nothing that needs these requests can be faster.";
    s.labels = {"operation"};
    s.columns = {{"sessions", "sessions", count_text},
                 {"passing on p50", "handover_us.p50", microseconds_text},
                 {"p99", "handover_us.p99", microseconds_text},
                 {"requests", "requests_per_handover", figure_text},
                 {"/ floor", "floor_ratio", ratio_text},
                 {"create p50", "create_us.p50", microseconds_text},
                 {"exists", "exists_us.p50", microseconds_text},
                 {"delete", "delete_us.p50", microseconds_text},
                 {"create + delete", "create_delete_us.p50", microseconds_text},
                 {"delete to event", "delete_to_event_us.p50", microseconds_text},
                 {"list 10", "list_10_us.p50", microseconds_text},
                 {"list 1,000", "list_1000_us.p50", microseconds_text},
                 {"list 10,000", "list_10000_us.p50", microseconds_text}};
    return s;
}

section network_section() {
    section s;
    s.workload = "network";
    s.heading = "TCP and TLS";
    s.question = "What do TCP and TLS cost?";
    s.method =
        "The bare C client, corozk over TCP and corozk over TLS take turns on one server. Finally "
        "a client connects by TLS to a server that accepts the connection and sends nothing.";
    s.reading =
        "CPU time of a request, memory of a session; and in the last row for how long the event "
        "loop was blocked, compared with an idle one.";
    s.labels = {"transport", "server"};
    s.columns = {{"create + delete p50", "create_delete_us.p50", microseconds_text},
                 {"client CPU each", "client_cpu_us_per_request", microseconds_text},
                 {"pipelined: CPU each", "pipelined.client_cpu_us_per_request", microseconds_text},
                 {"requests/s", "pipelined.requests_per_s", count_text},
                 {"connect p50", "connect_us.p50", microseconds_text},
                 {"p95", "connect_us.p95", microseconds_text},
                 {"memory of a session", "memory_per_session_bytes", bytes_text},
                 {"acquire + release p50", "acquire_release_us.p50", microseconds_text},
                 {"hand-over p50, one session", "handover_us.p50", microseconds_text},
                 {"between sessions", "handover_between_sessions_us.p50", microseconds_text},
                 {"longest iteration, ms", "max_stall_ms", figure_text},
                 {"when idle, ms", "noise_ms", figure_text}};
    return s;
}

section stall_section() {
    section s;
    s.workload = "stall";
    s.heading = "Stalls of the event loop";
    s.question = "For how long does the library block the event loop?";
    s.method =
        "A watchdog posts itself to the event loop repeatedly and records the gaps, while servers "
        "are stopped, killed and restarted, sessions expire and clients close.";
    s.reading =
        "The longest stall excludes the time in which the machine had no core free for the thread; "
        "the gap by the clock does not. The row 'nothing' is the machine's noise.";
    s.labels = {"case"};
    s.columns = {{"watches", "watches", count_text},
                 {"longest stall, ms", "max_stall_ms", figure_text},
                 {"gap by the clock, ms", "max_gap_ms", figure_text},
                 {"took", "took_s", seconds_text}};
    return s;
}

}  // namespace corozk::bench
