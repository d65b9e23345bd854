// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contest_rows.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace corozk::bench {

boost::asio::awaitable<void> run_semaphore(job& j) {
    table t({"permits",
             "waiters",
             "sessions",
             "queue",
             "drain",
             "permits/s",
             "free -> taken p50",
             "p99",
             "p50 / floor",
             "requests",
             "events",
             "bytes",
             "memory",
             "client CPU/request",
             "server CPU"});
    for (std::size_t limit : j.wanted.limits) {
        for (std::size_t waiters : j.wanted.waiters) {
            contest_setup setup("ours", waiters);
            setup.recipe = "semaphore";
            setup.limit = limit;
            setup.processes = std::min(j.wanted.processes, waiters);
            setup.sessions = std::clamp(j.wanted.sessions, setup.processes, waiters);
            result row = co_await repeat_contest(j, setup);
            t.add({count_text(static_cast<double>(limit)),
                   count_text(static_cast<double>(waiters)),
                   count_text(static_cast<double>(setup.sessions)),
                   seconds_text(row.median("queue_s")),
                   seconds_text(row.median("drain_s")),
                   with_spread(row, "handovers_per_s", count_text),
                   microseconds_text(row.median("handover_us.p50")),
                   microseconds_text(row.median("handover_us.p99")),
                   with_spread(row, "floor_ratio", ratio_text),
                   figure_text(row.median("requests_per_handover")),
                   figure_text(row.median("notifications_per_handover")),
                   bytes_text(row.median("bytes_per_handover")),
                   bytes_text(row.median("memory_per_waiter_bytes")),
                   fmt::format("{:.1f} us", row.median("client_cpu_us_per_request")),
                   row.has("server_cpu_us_per_handover")
                       ? fmt::format("{:.0f} us", row.median("server_cpu_us_per_handover"))
                       : ""});
            j.results.push_back(std::move(row));
        }
    }
    j.output = heading(j) + "\n" + t.str();
    j.output +=
        "\nAll permits are held until all clients wait; then each new holder releases at "
        "once.\nfree -> taken: from right before a release until another client has that permit; "
        "as many hand-overs are in progress at a time as there are permits\nrequests, events, "
        "bytes, server CPU: per hand-over; medians, with (least .. most)\nfloor: one session's "
        "delete to another session's watch event, bare C client, measured around each row\n";
}

}  // namespace corozk::bench
