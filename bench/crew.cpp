// SPDX-License-Identifier: Apache-2.0
#include "crew.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <stdexcept>
#include <utility>

namespace corozk::bench {

namespace {

/// Rarely enough not to disturb; the end is noted when it comes, not when it is seen.
constexpr auto sampling_interval = std::chrono::milliseconds(5);
constexpr auto patience = std::chrono::seconds(60);

}  // namespace

void crew::add(boost::asio::awaitable<void> work) {
    if (started_++ == 0)
        began_ = clock::now();
    boost::asio::co_spawn(executor_, std::move(work), [this](std::exception_ptr problem) {
        ++ended_;
        ended_at_ = clock::now();
        if (problem && !problem_)
            problem_ = std::move(problem);
    });
}

boost::asio::awaitable<double> crew::finish(std::string what,
                                            const std::size_t& done,
                                            std::size_t total) {
    boost::asio::steady_timer timer(executor_);
    std::size_t seen = 0;
    auto moved = clock::now();
    while (ended_ < started_ && !problem_) {
        timer.expires_after(sampling_interval);
        co_await timer.async_wait(boost::asio::use_awaitable);
        shown_.update(what, done, total);
        if (std::size_t now = done + ended_; now != seen) {
            seen = now;
            moved = clock::now();
        } else if (clock::now() - moved > patience) {
            throw std::runtime_error(what + ": no further progress");
        }
    }
    if (problem_)
        std::rethrow_exception(problem_);
    co_return to_seconds(ended_at_ - began_);
}

}  // namespace corozk::bench
