// SPDX-License-Identifier: Apache-2.0
// A condition variable for coroutines on one thread: wakes all waiters.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace service {

namespace asio = boost::asio;
using asio::awaitable;

class bell {
public:
    explicit bell(const asio::any_io_executor& executor)
        : timer_(executor, asio::steady_timer::time_point::max()) {}

    void ring() { timer_.cancel(); }

    template <class Condition>
    awaitable<void> until(Condition& holds) {
        auto quietly = asio::as_tuple(asio::use_awaitable);
        while (!holds())
            co_await timer_.async_wait(quietly);
    }

private:
    asio::steady_timer timer_;
};

}  // namespace service
