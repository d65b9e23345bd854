// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contest_rows.hpp"
#include "crew.hpp"
#include "plain_barrier.hpp"
#include "table.hpp"
#include "work_figures.hpp"
#include <corozk/recipe/double_barrier.hpp>

#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>

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

/// Each client enters one barrier after the other, then leaves one after the other.
class barriers_run {
public:
    barriers_run(job& j, std::vector<client>& clients, std::size_t barriers)
        : job_(j), clients_(clients) {
        for (std::size_t i = 0; i < barriers; ++i)
            paths_.push_back(j.on.fresh_path("barrier"));
    }

    boost::asio::awaitable<void> make_folders() {
        for (const auto& path : paths_) {
            job_.on.shown().update("making folders", 0, 0);
            co_await clients_.front().ensure_path(path);
        }
        for (auto& c : clients_)
            co_await c.sync(paths_.front());
    }

    boost::asio::awaitable<void> run(bool ours, result& r) {
        auto executor = co_await boost::asio::this_coro::executor;
        work_figures used(clients_);
        crew all(executor, job_.on.shown());
        began_ = clock::now();
        for (std::size_t i = 0; i < clients_.size(); ++i) {
            if (ours) {
                all.add(take_part(clients_[i]));
            } else {
                all.add(take_part(clients_[i], fmt::format("{:04}", i)));
            }
        }
        std::size_t total = 2 * paths_.size() * clients_.size();
        std::string label = fmt::format("{} barriers, {} clients, {}",
                                        paths_.size(),
                                        clients_.size(),
                                        ours ? "corozk" : "textbook recipe");
        double seconds = co_await all.finish(label, operations_, total);
        r.add("time_s", finished_.mean() / 1e6);
        r.add("ops_per_s", static_cast<double>(total) / seconds);
        used.add_to(r, static_cast<double>(total));
    }

private:
    auto size() const { return static_cast<std::uint32_t>(clients_.size()); }

    boost::asio::awaitable<void> take_part(client& c) {
        std::deque<double_barrier> mine;
        for (const auto& path : paths_)
            co_await entered(mine.emplace_back(c, path, size()));
        co_await left(mine);
    }

    boost::asio::awaitable<void> take_part(client& c, std::string name) {
        std::deque<plain_barrier> mine;
        for (const auto& path : paths_)
            co_await entered(mine.emplace_back(c, path, size(), name));
        co_await left(mine);
    }

    template <class Barrier>
    boost::asio::awaitable<void> entered(Barrier& b) {
        co_await b.enter();
        ++operations_;
    }

    template <class Barrier>
    boost::asio::awaitable<void> left(std::deque<Barrier>& mine) {
        for (; !mine.empty(); mine.pop_front()) {
            co_await mine.front().leave();
            ++operations_;
        }
        finished_.add(to_microseconds(clock::now() - began_));
    }

    job& job_;
    std::vector<client>& clients_;
    std::vector<std::string> paths_;
    clock::time_point began_{};
    std::size_t operations_ = 0;
    latencies finished_;
};

result describe(const job& j,
                const std::string& implementation,
                std::size_t barriers,
                std::size_t clients) {
    result row;
    row.set("implementation", implementation).set("recipe", "double_barrier");
    row.set("case", fmt::format("{} barriers", barriers)).set("barriers", barriers);
    row.set("waiters", clients).set("sessions", clients);
    row.set("processes", 1).set("threads", 1).set("repeat", j.wanted.repeat);
    if (const auto* p = find_published(barriers, clients))
        row.add("published_s", p->seconds);
    return row;
}

boost::asio::awaitable<result> measure(job& j,
                                       std::string implementation,
                                       std::size_t barriers,
                                       std::size_t members) {
    result row = describe(j, implementation, barriers, members);
    bool ours = implementation == "ours";
    for (std::size_t i = 0; i < j.wanted.repeat; ++i) {
        auto clients = co_await j.on.connect(members);
        {
            barriers_run run(j, clients, barriers);
            co_await run.make_folders();
            co_await run.run(ours, row);
        }
        co_await stage::close(clients);
    }
    co_return row;
}

}  // namespace

boost::asio::awaitable<void> run_paper(job& j) {
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
                result row = co_await measure(j, implementation, barriers, members);
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
    j.output = heading(j) + "\n" + t.str();
    j.output +=
        "\npaper: Hunt, Konar, Junqueira, Reed: ZooKeeper: Wait-free coordination for "
        "Internet-scale systems, USENIX ATC 2010, table 3, on a cluster of 50 machines with two "
        "cores of 2.1 GHz; it does not say how many of them were servers. It needed 5.5 requests "
        "for each barrier operation, and did 1,950 to 3,100 a second\n"
        "here: the average time for a client to enter all barriers, one after the other, and to "
        "leave them. The ratio to the paper's is that of the machines as well: compare the two "
        "recipes, which run on the same one\n";
}

}  // namespace corozk::bench
