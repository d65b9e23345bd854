// SPDX-License-Identifier: Apache-2.0
// How scenarios wait: not for ever.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <utility>

namespace corozk::wire {

inline auto as_tuple() {
    return boost::asio::as_tuple(boost::asio::use_awaitable);
}

/// Whether nobody lies in this process.
inline bool honest = false;

/// How long to wait for what comes at once from an honest server, on a busy machine later.
inline std::chrono::seconds patience(std::chrono::seconds with_liars) {
    return honest ? std::chrono::seconds(30) : with_liars;
}

/// As by somebody who does not wait for ever. Whom a lie has told of a node that is not there, or not of
/// one that is, or whose event is lost, may wait for its end, or for news of it.
template <class Value>
boost::asio::awaitable<void> for_a_second(boost::asio::awaitable<Value> operation) {
    using namespace boost::asio::experimental::awaitable_operators;
    boost::asio::steady_timer limit(co_await boost::asio::this_coro::executor,
                                    std::chrono::seconds(1));
    co_await (std::move(operation) || limit.async_wait(boost::asio::use_awaitable));
}

}  // namespace corozk::wire
