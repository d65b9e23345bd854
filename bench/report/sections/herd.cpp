// SPDX-License-Identifier: Apache-2.0
#include "report/row.hpp"
#include "report/section.hpp"
#include "table.hpp"

namespace corozk::bench {

namespace {

/// What the servers do anyway is subtracted.
std::string beyond_idle_text(double microseconds) {
    return microseconds < 0 ? "within the noise" : microseconds_text(microseconds);
}

}  // namespace

section herd_section() {
    section s;
    s.workload = "herd";
    s.heading = "What one release causes";
    s.question =
        "Which clients wake up needlessly, and how is a client affected that does not use "
        "the lock?";
    s.method =
        "Waiters have a session each; the lock is released ten times a second, or as often as "
        "possible if that takes longer, and the former owner queues again. Another client reads "
        "one znode 200 times a second at fixed times, and the latency of a read is measured from "
        "when it was due.";
    s.reading =
        "A herd lock wakes all waiters for each release: its lines rise with their number, and "
        "the neighbour waits longer than before any release (dashed).";
    s.columns = {
        {"waiters", "waiters", count_text},
        {"sessions", "sessions", count_text},
        {"releases a second", "releases_per_s", figure_text},
        {"until the next has it", "handover_us", microseconds_text},
        {"requests", "requests_per_handover", figure_text},
        {"events", "notifications_per_handover", figure_text},
        {"bytes", "bytes_per_handover", bytes_text},
        {"server CPU", "server_cpu_us_per_turn", beyond_idle_text},
        {"another client's reads p50", "neighbour_us.p50", microseconds_text},
        {"p99", "neighbour_us.p99", microseconds_text},
        {"p99 without releases", "neighbour_idle_us.p99", microseconds_text},
        {"p99 at the leader", "neighbour_at_leader_us.p99", microseconds_text},
        {"without releases", "neighbour_at_leader_idle_us.p99", microseconds_text},
        {"p99 at a follower", "neighbour_at_follower_us.p99", microseconds_text},
        {"without releases", "neighbour_at_follower_idle_us.p99", microseconds_text},
        {"p99 at the lagging follower", "neighbour_at_lagging_follower_us.p99", microseconds_text},
        {"without releases", "neighbour_at_lagging_follower_idle_us.p99", microseconds_text},
        {"p99 at an observer", "neighbour_at_observer_us.p99", microseconds_text},
        {"without releases", "neighbour_at_observer_idle_us.p99", microseconds_text}};
    s.lines = {
        {.name = "neighbour",
         .title = "Another client's reads during releases of {}",
         .caption =
             "Reads of a client that does not use it, 200 a second at fixed times, while it is "
             "released ten times a second at most: how long 99 of 100 take at most. Dashed: while "
             "all wait and nothing is released; the median of all recipes.",
         .y_title = "a read, 99th percentile",
         .unit = plot_unit::seconds,
         .key = "neighbour_us.p99",
         .scale = 1e-6,
         .workload = "herd",
         .fixed = {{.key = "neighbour_idle_us.p99", .title = "no release"}}},
        {.name = "herd-notifications",
         .title = "What one release of {} causes: notifications",
         .caption =
             "Watch events that the server sends until all clients are idle again; at most one for "
             "each session and node.",
         .y_title = "notifications per release",
         .key = "notifications_per_handover",
         .workload = "herd"},
        {.name = "herd-requests",
         .title = "What one release of {} causes: requests",
         .caption = "Requests of all clients until all are idle again.",
         .y_title = "requests per release",
         .key = "requests_per_handover",
         .workload = "herd"},
    };
    return s;
}

}  // namespace corozk::bench
