// SPDX-License-Identifier: Apache-2.0
#include "contest_rows.hpp"
#include "paper/barriers.hpp"
#include "paper/experiments.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace corozk::bench {

namespace {

/// Hunt, Konar, Junqueira, Reed: ZooKeeper: Wait-free coordination for Internet-scale systems,
/// USENIX ATC 2010, table 3: "the average of the time for each client to finish over five runs".
struct published_time {
    std::size_t barriers;
    std::size_t clients;
    double seconds;
};
constexpr std::array published{published_time{200, 50, 9.4},
                               published_time{200, 100, 19.8},
                               published_time{200, 200, 41.0},
                               published_time{400, 50, 16.4},
                               published_time{400, 100, 34.1},
                               published_time{400, 200, 62.0},
                               published_time{800, 50, 28.9},
                               published_time{800, 100, 55.9},
                               published_time{800, 200, 112.1},
                               published_time{1'600, 50, 54.0},
                               published_time{1'600, 100, 102.7},
                               published_time{1'600, 200, 234.4}};

const published_time* find_published(std::size_t barriers, std::size_t clients) {
    auto at = std::find_if(published.begin(), published.end(), [&](const published_time& p) {
        return p.barriers == barriers && p.clients == clients;
    });
    return at == published.end() ? nullptr : &*at;
}

result barriers_row(const job& j,
                    const std::string& implementation,
                    std::size_t barriers,
                    std::size_t clients) {
    result row;
    row.set("experiment", "barrier_table");
    row.set("implementation", implementation).set("recipe", "double_barrier");
    row.set("case", fmt::format("{} barriers", barriers)).set("barriers", barriers);
    row.set("waiters", clients).set("sessions", clients);
    row.set("processes", 1).set("threads", 1).set("repeat", j.wanted.repeat);
    if (const auto* p = find_published(barriers, clients))
        row.add("published_s", p->seconds);
    return row;
}

boost::asio::awaitable<result> repeat_barriers(job& j,
                                               std::string implementation,
                                               std::size_t barriers,
                                               std::size_t members) {
    result row = barriers_row(j, implementation, barriers, members);
    for (std::size_t i = 0; i < j.wanted.repeat; ++i)
        co_await measure_barriers(j, implementation == "ours", barriers, members, row);
    co_return row;
}

}  // namespace

boost::asio::awaitable<std::string> play_barrier_table(job& j) {
    table t({"barriers",
             "clients",
             "paper",
             "",
             "here",
             "times faster",
             "barrier operations/s",
             "requests per operation",
             "events",
             "bytes"});
    for (std::size_t barriers : j.wanted.barriers) {
        for (std::size_t members : j.wanted.members) {
            for (const auto& implementation : j.wanted.implementations) {
                if (implementation == "herd")
                    continue;
                result row = co_await repeat_barriers(j, implementation, barriers, members);
                double time = row.median("time_s");
                double theirs = row.median("published_s");
                t.add({count_text(barriers),
                       count_text(members),
                       theirs > 0 ? fmt::format("{:.1f} s", theirs) : "",
                       implementation == "ours" ? "corozk" : "textbook recipe",
                       with_spread(row, "time_s", seconds_text),
                       theirs > 0 ? ratio_text(theirs / time) : "",
                       count_text(row.median("ops_per_s")),
                       figure_text(row.median("requests_per_operation")),
                       figure_text(row.median("notifications_per_operation")),
                       bytes_text(row.median("bytes_per_operation"))});
                j.results.push_back(std::move(row));
            }
        }
    }
    co_return t.str() +
        "\nhere: the average time for a client to enter all barriers, one after the other, and to "
        "leave them. The ratio to the paper's is that of the machines as well: compare the two "
        "recipes, which run on the same one\n";
}

}  // namespace corozk::bench
