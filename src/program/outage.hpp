// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"
#include <corozk/error.hpp>

#include <functional>

namespace corozk::program {

/// Whether this may pass when servers can be reached again.
bool is_outage(const error_code& ec) noexcept;

/// Waits for a connection, also after a signal has asked to end.
/// @throws system_error not_connected if there is none at that time
asio::awaitable<void> connected_until(client& zk, time_point until);

/// The same, but a signal ends it. @throws interrupted
asio::awaitable<void> connected_again(command_context& context, time_point until);

/// Begins an operation.
template <class Value>
using attempt = std::function<asio::awaitable<Value>()>;

/// Awaits an operation, and begins it again after each outage, even one that the session does not
/// survive.
template <class Value>
asio::awaitable<Value> through_outages(command_context& context,
                                       time_point until,
                                       const char* report,
                                       const attempt<Value>& begin) {
    for (;;) {
        ending<Value> ended;
        co_await run_to_end(context.interrupts.race(begin()), ended);
        try {
            co_return ended.take();
        } catch (const boost::system::system_error& e) {
            if (!is_outage(e.code()) || std::chrono::steady_clock::now() >= until)
                throw;
        }
        context.out.event("session_lost", report);
        co_await connected_again(context, until);
    }
}

}  // namespace corozk::program
