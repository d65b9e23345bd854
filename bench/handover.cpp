// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contest_rows.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace corozk::bench {

namespace {

void add_row(table& t, const result& r, const contest_setup& setup) {
    t.add({title_of(setup),
           count_text(setup.waiters),
           count_text(setup.sessions),
           count_text(setup.processes),
           count_text(r.number("threads")),
           seconds_text(r.median("queue_s")),
           seconds_text(r.median("drain_s")),
           microseconds_text(r.median("handover_us.p50")),
           microseconds_text(r.median("handover_us.p99")),
           ratio_text(r.median("floor_ratio")),
           figure_text(r.median("requests_per_waiter")),
           count_text(r.median("listings")),
           figure_text(r.median("requests_per_handover")),
           figure_text(r.median("notifications_per_handover")),
           bytes_text(r.median("bytes_per_handover")),
           bytes_text(r.median("memory_per_waiter_bytes")),
           fmt::format("{:.1f} us", r.median("client_cpu_us_per_request")),
           r.has("server_cpu_us_per_handover")
               ? fmt::format("{:.0f} us", r.median("server_cpu_us_per_handover"))
               : ""});
}

/// What is wanted, with fewer waiters where it would take too long; `remarks` says so.
contest_setup setup_for(const settings& wanted,
                        const std::string& recipe,
                        const std::string& implementation,
                        std::size_t waiters,
                        std::string& remarks) {
    contest_setup setup(implementation, waiters);
    setup.recipe = recipe;
    setup.readers = wanted.readers;
    setup.limit = wanted.limits.front();
    std::size_t limit = sensible_limit(setup);
    if (limit > 0 && waiters > limit) {
        setup.waiters = limit;
        remarks += fmt::format("{}: {} waiters instead of {}, which would take too long\n",
                               title_of(setup),
                               count_text(limit),
                               count_text(waiters));
    }
    // Each process has a session at the least, and somebody who waits.
    setup.processes = std::min(wanted.processes, setup.waiters);
    setup.sessions = std::clamp(wanted.sessions, setup.processes, setup.waiters);
    return setup;
}

std::vector<contest_setup> all_setups(const settings& wanted, std::string& remarks) {
    std::vector<contest_setup> all;
    for (const auto& recipe : wanted.recipes) {
        for (std::size_t waiters : wanted.waiters) {
            for (const auto& implementation : wanted.implementations) {
                if (!is_implemented(recipe, implementation))
                    continue;
                all.push_back(setup_for(wanted, recipe, implementation, waiters, remarks));
            }
        }
    }
    return all;
}

}  // namespace

boost::asio::awaitable<void> run_handover(job& j) {
    table t({"",
             "waiters",
             "sessions",
             "processes",
             "threads",
             "queue",
             "drain",
             "hand-over p50",
             "p99",
             "p50/floor",
             "requests",
             "listings",
             "req/h.o.",
             "events/h.o.",
             "bytes/h.o.",
             "memory",
             "CPU/request",
             "server CPU/h.o."});
    std::string remarks;
    std::string spread;
    for (const contest_setup& setup : all_setups(j.wanted, remarks)) {
        result row = co_await repeat_contest(j, setup);
        add_row(t, row, setup);
        if (j.wanted.repeat > 1) {
            spread += fmt::format("  {}, {} waiters: p50 {}, ratio {}\n",
                                  title_of(setup),
                                  count_text(setup.waiters),
                                  with_spread(row, "handover_us.p50", microseconds_text),
                                  with_spread(row, "floor_ratio", ratio_text));
        }
        j.results.push_back(std::move(row));
    }
    j.output = heading(j) + "\n" + t.str();
    j.output +=
        "\nfloor: one session's delete to another session's watch event, bare C client, measured "
        "around each contest\nrequests and memory: per waiter, from the beginning (its coroutine "
        "included); req, events, bytes/h.o.: during the hand-overs, per hand-over\n";
    if (!spread.empty())
        j.output += "medians of repetitions, with (least .. most):\n" + spread;
    j.output += remarks;
}

}  // namespace corozk::bench
