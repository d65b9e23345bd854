// SPDX-License-Identifier: Apache-2.0
#include "report/section.hpp"
#include "table.hpp"

namespace corozk::bench {

section paper_recipes_section() {
    section s;
    s.workload = "paper_recipes";
    s.heading = "Recipes with increasing numbers of clients";
    s.question =
        "The recipes of \"Extensible Distributed Coordination\" (EuroSys 2015): how do a counter, "
        "a queue, a barrier and an election behave as more clients use them?";
    s.method =
        "Clients, with a session each, add 1, put an item and take one, enter and leave a double "
        "barrier, or lead, resign and stand again, one operation after the other.";
    s.reading =
        "How a figure grows, in relation to that of the fewest clients. The paper's abstract says "
        "that an extension of the server makes a queue 17 times as fast; its other figures were "
        "not checked.";
    s.labels = {"experiment", "operation"};
    s.columns = {{"clients", "waiters", count_text},
                 {"per second", "ops_per_s", count_text},
                 {"time", "time_us", microseconds_text},
                 {"hand-over p50", "handover_us.p50", microseconds_text},
                 {"p99", "handover_us.p99", microseconds_text},
                 {"of the fewest clients'", "growth", ratio_text},
                 {"slower than corozk", "times_corozk", ratio_text},
                 {"slower than an extension, published", "published_ratio", ratio_text},
                 {"requests per operation", "requests_per_operation", figure_text},
                 {"per hand-over", "requests_per_handover", figure_text},
                 {"bytes per operation", "bytes_per_operation", bytes_text},
                 {"per hand-over", "bytes_per_handover", bytes_text}};
    s.lines = {{.name = "paper-rate",
                .title = "{}: operations per second",
                .caption = "The higher, the quicker.",
                .y_title = "per second",
                .key = "ops_per_s",
                .workload = "paper_recipes",
                .x_title = "clients",
                .group_key = ""},
               {.name = "paper-term",
                .title = "Passing {} on",
                .caption = "Median time from the end of a term to the beginning of the next.",
                .y_title = "until the next leads",
                .unit = plot_unit::seconds,
                .key = "handover_us.p50",
                .scale = 1e-6,
                .workload = "paper_recipes",
                .x_title = "clients",
                .group_key = ""}};
    return s;
}

section paper_herd_section() {
    section s;
    s.workload = "paper_herd";
    s.heading = "Requests with increasing numbers of clients";
    s.question =
        "\"Addressing the ZooKeeper Synchronization Inefficiency\" (ICDCN 2013) is about what a "
        "queue and a barrier cost that are made of notifications: how many requests does an "
        "operation cause?";
    s.method =
        "Consumers wait at an empty queue for items that come one by one, clients pass through "
        "double barriers, and contend for a lock, with a session each. All that an operation "
        "causes "
        "is counted.";
    s.reading =
        "Whether requests grow with the clients. The paper's figures were not checked, and it has "
        "no lock.";
    s.labels = {"recipe", "operation"};
    s.columns = {{"clients", "waiters", count_text},
                 {"requests", "requests_per_operation", figure_text},
                 {"of the fewest clients'", "growth", ratio_text},
                 {"events", "notifications_per_operation", figure_text},
                 {"bytes", "bytes_per_operation", bytes_text},
                 {"taken after p50", "taken_us.p50", microseconds_text}};
    s.lines = {{.name = "paper-herd",
                .title = "Requests for each operation: {}",
                .caption = "Of all clients, until all are idle.",
                .y_title = "requests",
                .key = "requests_per_operation",
                .workload = "paper_herd",
                .x_title = "clients",
                .group_key = ""}};
    return s;
}

section paper_locks_section() {
    section s;
    s.workload = "paper_locks";
    s.heading = "Waiting for a lock of each system";
    s.question =
        "After \"Evaluation of Key-Value Stores for Distributed Locking Purposes\" (Grzesik and "
        "Mrozek, 2019): how long do clients wait for a lock?";
    s.method =
        "Clients, with a session each, acquire the lock, release it at once and request it again.";
    s.reading =
        "Times grow with the clients, as all wait for the others. The paper's figures were not "
        "checked.";
    s.labels = {};
    s.columns = {{"clients", "waiters", count_text},
                 {"waits p50", "acquire_us.p50", microseconds_text},
                 {"p99", "acquire_us.p99", microseconds_text},
                 {"of the fewest clients'", "growth", ratio_text},
                 {"slower than corozk", "times_corozk", ratio_text},
                 {"grants per second", "handovers_per_s", count_text},
                 {"requests", "requests_per_handover", figure_text}};
    s.lines = {{.name = "paper-locks",
                .title = "Waiting for {}",
                .caption = "Median time until a client has the lock.",
                .y_title = "until it has the lock",
                .unit = plot_unit::seconds,
                .key = "acquire_us.p50",
                .scale = 1e-6,
                .workload = "paper_locks",
                .x_title = "clients",
                .group_key = ""}};
    return s;
}

}  // namespace corozk::bench
