// SPDX-License-Identifier: Apache-2.0
#include "paper/barriers.hpp"

#include "crew.hpp"
#include "plain_barrier.hpp"
#include "table.hpp"
#include "work_figures.hpp"
#include <corozk/recipe/double_barrier.hpp>

#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace corozk::bench {

namespace {

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
        std::string label = fmt::format("{}, {}, {}",
                                        counted(paths_.size(), "barrier"),
                                        counted(clients_.size(), "client"),
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

}  // namespace

boost::asio::awaitable<void> measure_barriers(
    job& j, bool ours, std::size_t barriers, std::size_t clients, result& r) {
    auto sessions = co_await j.on.connect(clients);
    {
        barriers_run run(j, sessions, barriers);
        co_await run.make_folders();
        co_await run.run(ours, r);
    }
    co_await stage::close(sessions);
}

}  // namespace corozk::bench
