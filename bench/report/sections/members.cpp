// SPDX-License-Identifier: Apache-2.0
#include "report/row.hpp"
#include "report/section.hpp"
#include "table.hpp"

namespace corozk::bench {

namespace {

/// Also where it is far less than a second.
std::string short_time_text(double seconds) {
    return microseconds_text(seconds * 1e6);
}

plot_series commit_form(const boost::json::object& row) {
    plot_series s;
    bool all = text_of(row, "form") == "all_sites";
    s.implementation = all ? "herd" : "ours";
    s.title = all ? "every site watches" : "the coordinator watches";
    return s;
}

}  // namespace

section barrier_section() {
    section s;
    s.workload = "barrier";
    s.heading = "A double barrier";
    s.question = "How long does it take until all members are inside, and out again?";
    s.method =
        "Coroutines enter at the same time, then leave. The floor is as many bare creates or "
        "deletes by the C client, all in flight at once.";
    s.reading = "The ratio to the floor, and requests for each member, which should not grow.";
    s.columns = {{"members", "waiters", count_text},
                 {"sessions", "sessions", count_text},
                 {"entered within", "enter_s", short_time_text},
                 {"/ floor", "enter_floor_ratio", ratio_text},
                 {"left within", "leave_s", short_time_text},
                 {"/ floor", "leave_floor_ratio", ratio_text},
                 {"time", "time_us", microseconds_text},
                 {"/ floor", "floor_ratio", ratio_text},
                 {"slower than corozk", "times_corozk", ratio_text},
                 {"requests to enter", "enter_requests_per_member", figure_text},
                 {"to leave", "leave_requests_per_member", figure_text},
                 {"bytes each", "bytes_per_member", bytes_text}};
    s.lines = {{.name = "barrier-enter",
                .title = "Entering a double barrier",
                .caption = "Until all members are inside. Dashed: as many bare creates.",
                .y_title = "all have entered",
                .unit = plot_unit::seconds,
                .key = "enter_s",
                .workload = "barrier",
                .fixed = {{.key = "floor_create_s", .title = "bare C client"}},
                .x_title = "members"},
               {.name = "barrier-leave",
                .title = "Leaving a double barrier",
                .caption = "Until all members are out again. Dashed: as many bare deletes.",
                .y_title = "all have left",
                .unit = plot_unit::seconds,
                .key = "leave_s",
                .workload = "barrier",
                .fixed = {{.key = "floor_erase_s", .title = "bare C client"}},
                .x_title = "members"}};
    return s;
}

section paper_section() {
    section s;
    s.workload = "paper";
    s.heading = "The barriers of ZooKeeper's paper";
    s.question =
        "Section 5.3 of \"ZooKeeper: Wait-free coordination for Internet-scale systems\" (USENIX "
        "ATC 2010), repeated: how long do clients need for many double barriers?";
    s.method =
        "Each client, with a session of its own, enters all barriers one after the other, then "
        "leaves them. The time is the average of the clients. The paper's machines were different.";
    s.reading =
        "Compare the two that ran here, and requests for each operation; the paper's times show "
        "how it grows.";
    s.labels = {"case"};
    s.columns = {{"clients", "waiters", count_text},
                 {"published", "published_s", short_time_text},
                 {"here", "time_s", short_time_text},
                 {"operations/s", "ops_per_s", count_text},
                 {"requests each", "requests_per_operation", figure_text},
                 {"events", "notifications_per_operation", figure_text},
                 {"bytes", "bytes_per_operation", bytes_text}};
    s.lines = {{.name = "paper",
                .title = "The paper's barriers",
                .caption = "Average time of a client to enter and leave all barriers.",
                .y_title = "time of a client",
                .unit = plot_unit::seconds,
                .key = "time_s",
                .workload = "paper",
                .fixed = {{.key = "published_s", .title = "published, 2010"}},
                .x_key = "barriers",
                .group_key = "waiters",
                .group_title = "client"}};
    return s;
}

section two_phase_commit_section() {
    section s;
    s.workload = "2pc";
    s.heading = "Two-phase commit";
    s.question = "How many messages does a transaction need by the number of sites?";
    s.method =
        "A coordinator begins, sites (a session each) join, vote, learn the outcome and finish. "
        "Messages are the requests and notifications of all sessions.";
    s.reading =
        "If every site watches every vote, messages grow with the square of the sites; if only the "
        "coordinator does, linearly.";
    s.labels = {"form"};
    s.columns = {{"sites", "sites", count_text},
                 {"messages", "messages", count_text},
                 {"requests", "requests", count_text},
                 {"events", "notifications", count_text},
                 {"bytes", "bytes", bytes_text},
                 {"time", "time_us", microseconds_text}};
    s.lines = {{.name = "2pc",
                .title = "Messages of a two-phase commit",
                .caption = "Requests and notifications of all sessions for one transaction.",
                .y_title = "messages",
                .key = "messages",
                .workload = "2pc",
                .x_key = "sites",
                .group_key = "",
                .series = commit_form}};
    return s;
}

section cache_section() {
    section s;
    s.workload = "cache";
    s.heading = "Caches";
    s.question = "How long does another session's write take to reach a cache?";
    s.method =
        "One session sets a node, and waits until a cache on another session gives the state with "
        "the new data. The floor is an event alone; a cache then reads the node as well.";
    s.reading =
        "About two round trips, whatever the number of nodes; and for how long the event loop was "
        "blocked.";
    s.columns = {{"nodes", "nodes", count_text},
                 {"write to new state p50", "latency_us.p50", microseconds_text},
                 {"p99", "latency_us.p99", microseconds_text},
                 {"/ floor", "floor_ratio", ratio_text},
                 {"slower than corozk", "times_corozk", ratio_text},
                 {"requests", "requests_per_operation", figure_text},
                 {"bytes", "bytes_per_operation", bytes_text},
                 {"loaded with requests", "load_requests", count_text},
                 {"loaded within, ms", "load_ms", figure_text},
                 {"stall while loading, ms", "load_stall_ms", figure_text},
                 {"at changes, ms", "change_stall_ms", figure_text}};
    return s;
}

}  // namespace corozk::bench
