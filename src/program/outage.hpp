// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"
#include <corozk/error.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>

namespace corozk::program {

/// Whether this is the servers' absence (or ours), which passes.
bool is_outage(const error_code& ec) noexcept;

/// Returns when there is a connection (again), also when we are asked to end.
/// @throws system_error not_connected when there is none until then
boost::asio::awaitable<void> connected_or_late(client& zk,
                                               std::chrono::steady_clock::time_point until);

/// The same, unless we are asked to end.
/// @throws system_error not_connected when there is none until then, interrupted
boost::asio::awaitable<void> connected_again(surroundings& here,
                                             std::chrono::steady_clock::time_point until);

/// Awaits something that may as well be begun once more, and does that for as long as servers are
/// away, be it longer than a session lives.
/// @param make gives the awaitable of one attempt
template <class Value, class Make>
boost::asio::awaitable<Value> through_outages(surroundings& here,
                                              std::chrono::steady_clock::time_point until,
                                              const char* what_then,
                                              Make& make) {
    for (;;) {
        ending<Value> ended;
        co_await run_to_end<Value>(here.interrupts.race<Value>(make()), ended);
        try {
            co_return ended.take();
        } catch (const boost::system::system_error& e) {
            if (!is_outage(e.code()) || std::chrono::steady_clock::now() >= until)
                throw;
        }
        boost::json::object event;
        event["event"] = "session_lost";
        here.out.event(what_then, event);
        co_await connected_again(here, until);
    }
}

}  // namespace corozk::program
