// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

#include <utility>

namespace corozk::detail {

/// One side of a race of awaitables. By default only terminal cancellation reaches a side, and a
/// race that once received another type passes nothing on any more: not even that one side has
/// ended.
template <class Value>
boost::asio::awaitable<Value> open_to_cancellation(boost::asio::awaitable<Value> side) {
    co_await boost::asio::this_coro::reset_cancellation_state(
        boost::asio::enable_total_cancellation());
    co_return co_await std::move(side);
}

}  // namespace corozk::detail
