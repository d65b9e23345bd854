// SPDX-License-Identifier: Apache-2.0
#include "closed_contest.hpp"
#include "contest_rows.hpp"
#include "help.hpp"
#include "paper/barriers.hpp"
#include "paper/experiments.hpp"
#include "paper/waiting_consumers.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace corozk::bench {

namespace {

/// Looked at one by one: each takes as long as it takes until all is quiet.
constexpr std::size_t most_items = 20;

/// Each of a client's enters and leaves is an operation.
constexpr std::size_t barriers_in_a_row = 5;

/// Turns at a lock for each client.
constexpr std::size_t turns_of_each = 5;

struct herd_kind {
    const char* recipe;
    const char* implementation;
    const char* title;
    const char* operation;
};

constexpr std::array herd_kinds{
    herd_kind{"queue", "textbook", "queue of the recipes page", "item"},
    herd_kind{"queue", "ours", "corozk's queue", "item"},
    herd_kind{"double_barrier", "textbook", "double barrier of the recipes page", "enter or leave"},
    herd_kind{"double_barrier", "ours", "corozk's double barrier", "enter or leave"},
    herd_kind{"lock", "herd", "herd lock", "cycle"},
    herd_kind{"lock", "textbook", "lock of the recipes page", "cycle"},
    herd_kind{"lock", "ours", "corozk's lock", "cycle"},
};

boost::asio::awaitable<void> measure_herd(job& j,
                                          const herd_kind& kind,
                                          std::size_t clients,
                                          result& r) {
    std::string recipe = kind.recipe;
    bool ours = kind.implementation == std::string("ours");
    if (recipe == "queue") {
        std::size_t items = std::min(j.wanted.operations, most_items);
        co_await measure_waiting_consumers(j, ours, clients, items, r);
    } else if (recipe == "double_barrier") {
        co_await measure_barriers(j, ours, barriers_in_a_row, clients, r);
    } else {
        contest_setup setup(kind.implementation, clients);
        setup.sessions = clients;
        co_await run_closed_contest(j.on, setup, clients * turns_of_each, r);
        for (std::string what : {"requests", "notifications", "bytes"})
            r.add(what + "_per_operation", r.last(what + "_per_handover"));
    }
}

result herd_row(const job& j, const herd_kind& kind, std::size_t clients) {
    result row;
    row.set("workload", "paper_herd").set("experiment", "herd");
    row.set("implementation", kind.implementation).set("recipe", kind.recipe);
    row.set("operation", kind.operation);
    row.set("waiters", clients).set("sessions", clients);
    row.set("processes", 1).set("threads", 1).set("repeat", j.wanted.repeat);
    return row;
}

}  // namespace

boost::asio::awaitable<std::string> play_herd(job& j) {
    table t({"",
             "for each",
             "clients",
             "requests",
             "of the fewest clients'",
             "notifications",
             "of the fewest clients'",
             "bytes"});
    for (const herd_kind& kind : herd_kinds) {
        double fewest_requests = 0;
        double fewest_notifications = 0;
        bool first = true;
        for (std::size_t clients : j.wanted.clients) {
            result row = herd_row(j, kind, clients);
            for (std::size_t i = 0; i < j.wanted.repeat; ++i)
                co_await measure_herd(j, kind, clients, row);
            double requests = row.median("requests_per_operation");
            double notifications = row.median("notifications_per_operation");
            if (std::exchange(first, false)) {
                fewest_requests = requests;
                fewest_notifications = notifications;
            }
            auto growth = [&](double figure, double of_fewest) {
                bool known = clients != j.wanted.clients.front() && of_fewest > 0;
                return known ? ratio_text(figure / of_fewest) : "";
            };
            row.add("growth", requests / fewest_requests);
            t.add({kind.title,
                   kind.operation,
                   count_text(clients),
                   figure_text(requests),
                   growth(requests, fewest_requests),
                   figure_text(notifications),
                   growth(notifications, fewest_notifications),
                   bytes_text(row.median("bytes_per_operation"))});
            j.results.push_back(std::move(row));
        }
    }
    co_return t.str() + "\n" +
        wrapped(
            "queue: consumers wait at an empty queue, an item is put, and all that it causes at "
            "the consumers is counted, until all are idle; lock: each client acquires and releases "
            "it repeatedly. Each client has a session of its own");
}

}  // namespace corozk::bench
