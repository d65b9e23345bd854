// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>

namespace corozk::program {

namespace asio = boost::asio;

/// Awaits an operation whose error is returned, not thrown.
inline constexpr asio::as_tuple_t<asio::use_awaitable_t<>> as_tuple{asio::use_awaitable};

using time_point = std::chrono::steady_clock::time_point;

/// Completes at this time, or when it is cancelled.
inline asio::awaitable<void> pause_until(time_point end) {
    asio::steady_timer timer(co_await asio::this_coro::executor, end);
    co_await timer.async_wait(as_tuple);
}

inline asio::awaitable<void> pause_for(std::chrono::steady_clock::duration time) {
    return pause_until(std::chrono::steady_clock::now() + time);
}

}  // namespace corozk::program
