// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "progress.hpp"
#include "statistics.hpp"
#include <corozk/client.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <string>
#include <utility>

namespace corozk::bench {

/// So many more are sent when many are on their way: they are so much quicker.
inline constexpr std::size_t pipelined_factor = 20;

/// One operation on the node with this number.
struct operation_kind {
    const char* name;
    boost::asio::awaitable<void> (*run)(client&, const std::string& folder, std::size_t number);
};

/// `in_flight` coroutines, each sending one after the other.
class request_crowd {
public:
    request_crowd(client& c, const operation_kind& kind, std::string folder, std::size_t count)
        : client_(c), kind_(kind), folder_(std::move(folder)), count_(count) {}

    boost::asio::awaitable<void> run(std::size_t in_flight, progress& shown) {
        auto executor = co_await boost::asio::this_coro::executor;
        std::string text = fmt::format("{}, {} at a time", kind_.name, in_flight);
        began_ = clock::now();
        for (std::size_t i = 0; i < in_flight; ++i) {
            boost::asio::co_spawn(executor, work(), [this, in_flight](std::exception_ptr e) {
                if (e)
                    problem_ = e;
                if (++ended_ == in_flight)
                    finished_ = clock::now();
            });
        }
        boost::asio::steady_timer timer(executor);
        while (ended_ < in_flight) {
            timer.expires_after(std::chrono::milliseconds(20));
            co_await timer.async_wait(boost::asio::use_awaitable);
            shown.update(text, std::min(next_, count_), count_);
        }
        if (problem_)
            std::rethrow_exception(problem_);
    }

    double per_second() const {
        return static_cast<double>(count_) / to_seconds(finished_ - began_);
    }

private:
    boost::asio::awaitable<void> work() {
        while (next_ < count_ && !problem_) {
            std::size_t mine = next_++;
            co_await kind_.run(client_, folder_, mine);
        }
    }

    client& client_;
    const operation_kind& kind_;
    std::string folder_;
    std::size_t count_;
    std::size_t next_ = 0;
    std::size_t ended_ = 0;
    std::exception_ptr problem_;
    clock::time_point began_{};
    clock::time_point finished_{};
};

}  // namespace corozk::bench
