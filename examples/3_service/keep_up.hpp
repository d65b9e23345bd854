// SPDX-License-Identifier: Apache-2.0
// Runs a part of the service forever. An exception (session loss, invalid data) ends one attempt
// and is reported by /health until the next one succeeds.
#pragma once

#include "health.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>

namespace service {

namespace asio = boost::asio;
using asio::awaitable;

template <class Attempt>
awaitable<void> keep_up(health& all, std::string name, Attempt attempt) {
    health::part state = all.add(name);
    asio::steady_timer pause(co_await asio::this_coro::executor);
    for (;;) {
        std::string why = "has ended";
        try {
            co_await attempt(state);
        } catch (const std::exception& e) {
            why = e.what();
        }
        auto cancellation = co_await asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != asio::cancellation_type::none)
            co_return;  // the service ends
        state.fails(why);
        std::cerr << name << ": " << why << '\n';
        pause.expires_after(std::chrono::milliseconds(500));
        co_await pause.async_wait(asio::use_awaitable);
    }
}

}  // namespace service
