// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "command.hpp"
#include "contest_rows.hpp"
#include "table.hpp"

namespace corozk::bench {

namespace {

void add_row(table& t, const result& r, const contest_setup& setup) {
    t.add({std::string(title_of(setup.implementation)),
           count_text(static_cast<double>(setup.waiters)),
           count_text(static_cast<double>(setup.sessions)),
           seconds_text(r.median("queue_s")),
           seconds_text(r.median("drain_s")),
           microseconds_text(r.median("handover_us.p50")),
           microseconds_text(r.median("handover_us.p99")),
           ratio_text(r.median("floor_ratio")),
           figure_text(r.median("requests_per_waiter")),
           count_text(r.median("listings")),
           figure_text(r.median("notifications_per_handover")),
           bytes_text(r.median("bytes_per_handover")),
           bytes_text(r.median("memory_per_waiter_bytes")),
           fmt::format("{:.1f} us", r.median("client_cpu_us_per_request"))});
}

}  // namespace

boost::asio::awaitable<void> run_handover(job& j) {
    table t({"", "waiters", "sessions", "queue", "drain", "hand-over p50", "p99", "p50/floor",
             "requests", "listings", "events", "bytes", "memory", "CPU/request"});
    std::string remarks;
    std::string spread;
    for (std::size_t waiters : j.wanted.waiters) {
        for (const auto& implementation : j.wanted.implementations) {
            contest_setup setup(implementation, waiters);
            std::size_t limit = sensible_limit(implementation);
            if (limit > 0 && waiters > limit) {
                setup.waiters = limit;
                remarks += fmt::format("{}: {} waiters instead of {}, which would take too long\n",
                                       title_of(implementation), count_text(static_cast<double>(limit)),
                                       count_text(static_cast<double>(waiters)));
            }
            setup.sessions = std::min(j.wanted.sessions, setup.waiters);
            result row = co_await repeat_contest(j, setup);
            add_row(t, row, setup);
            if (j.wanted.repeat > 1) {
                spread += fmt::format("  {}, {} waiters: p50 {}, ratio {}\n", title_of(implementation),
                                      count_text(static_cast<double>(setup.waiters)),
                                      with_spread(row, "handover_us.p50", microseconds_text),
                                      with_spread(row, "floor_ratio", ratio_text));
            }
            j.results.push_back(std::move(row));
        }
    }
    j.output = heading(j) + "\n" + t.str();
    j.output += "\nfloor: one session's delete to another session's watch event, bare C client, "
                "measured around each contest\nrequests and memory per waiter (its coroutine "
                "included); events and bytes per hand-over\n";
    if (!spread.empty()) j.output += "medians of repetitions, with (least .. most):\n" + spread;
    j.output += remarks;
}

}  // namespace corozk::bench
