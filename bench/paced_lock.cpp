// SPDX-License-Identifier: Apache-2.0
#include "paced_lock.hpp"

#include <corozk/recipe/lock.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace corozk::bench {

paced_handovers::paced_handovers(std::vector<client>& clients,
                                 const std::string& path,
                                 std::size_t count)
    : count_(count) {
    for (auto& c : clients)
        locks_.emplace_back(c, path);
    times_.reserve(count);
}

paced_handovers::~paced_handovers() = default;

boost::asio::awaitable<void> paced_handovers::play(std::size_t player) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    while (done_ < count_) {
        auto held = co_await locks_[player].acquire();
        auto now = clock::now();
        bool first = due_ == clock::time_point{};
        if (!first && done_ < count_) {
            times_.add(to_microseconds(now - due_));
            ++done_;
        }
        auto next = (first ? now : due_) + paced_interval;
        timer.expires_at(next);
        co_await timer.async_wait(boost::asio::use_awaitable);
        due_ = next;
        co_await held.release();
    }
}

boost::asio::awaitable<void> acquire_paced(client& c,
                                           std::string path,
                                           std::size_t count,
                                           latencies& times) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    lock l(c, path);
    times.reserve(count);
    // Between two hand-overs.
    auto due = clock::now() + paced_interval / 2;
    for (std::size_t i = 0; i < count; ++i) {
        timer.expires_at(due);
        co_await timer.async_wait(boost::asio::use_awaitable);
        auto held = co_await l.acquire();
        times.add(to_microseconds(clock::now() - due));
        co_await held.release();
        due += paced_interval;
    }
}

}  // namespace corozk::bench
