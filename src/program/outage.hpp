// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"
#include <corozk/error.hpp>

#include <functional>

namespace corozk::program {

/// Whether this may pass when servers can be reached again.
bool is_outage(const error_code& ec) noexcept;

/// Whether the client was closed, which no server that returns can change.
bool is_closed(const client& zk);

/// An error of no operation in particular.
inline std::exception_ptr failure_of(const error_code& ec) {
    return std::make_exception_ptr(boost::system::system_error(ec));
}

/// Why the client was closed, if the failure only follows from that; otherwise the failure.
std::exception_ptr reason_of(std::exception_ptr failure, const client& zk);

/// Waits for a connection, also after a signal has asked to end.
/// @throws system_error not_connected if there is none at that time
asio::awaitable<void> connected_until(client& zk, time_point until);

/// The same, but a signal ends it. @throws interrupted
asio::awaitable<void> connected_again(command_context& context, time_point until);

/// Reports that there is no connection: with --json as "connection_lost", or as "session_lost" if the
/// error says so.
void report_outage(const command_context& context, const error_code& why, const char* report);

/// Awaits an operation that waits for no other client, but perhaps for a server until this time.
/// @throws system_error not_connected or, if there is a deadline, deadline_exceeded
template <class Value>
asio::awaitable<Value> response(const wait_options& wait,
                                time_point until,
                                asio::awaitable<Value> operation) {
    auto result = co_await before(until, std::move(operation));
    if (!result)
        throw boost::system::system_error(wait.at_once() ? errc::not_connected
                                                         : errc::deadline_exceeded);
    if constexpr (!std::is_void_v<Value>)
        co_return std::move(*result);
}

/// The same, until it is due, but a signal ends it. @throws interrupted
template <class Value>
asio::awaitable<Value> answer(command_context& context,
                              const wait_options& wait,
                              asio::awaitable<Value> operation) {
    return context.interrupts.race(response(wait, wait.response_due(), std::move(operation)));
}

/// Reports that there is no connection, and with `session_report`, or --json, each loss of the session.
/// Ends when it is cancelled.
/// @param was_connected when it was last reported; afterwards, too
asio::awaitable<void> report_outages(command_context& context,
                                     bool& was_connected,
                                     const char* report,
                                     const char* session_report = nullptr);

/// Completes when there is no connection.
asio::awaitable<void> disconnected(client& zk);

/// Awaits an operation that itself waits through outages, and reports them.
template <class Value>
asio::awaitable<Value> reporting_outages(command_context& context,
                                         const char* report,
                                         asio::awaitable<Value> operation,
                                         const char* session_report = nullptr) {
    using namespace asio::experimental::awaitable_operators;
    ending<Value> ended;
    bool was_connected = true;
    co_await (run_to_end(std::move(operation), ended) ||
              report_outages(context, was_connected, report, session_report));
    co_return ended.take();
}

/// Begins an operation.
template <class Value>
using attempt = std::function<asio::awaitable<Value>()>;

/// Awaits an operation, and begins it again after each outage that ends it, even one that the session
/// does not survive.
template <class Value>
asio::awaitable<Value> repeated(command_context& context,
                                const wait_options& wait,
                                const attempt<Value>& begin) {
    for (;;) {
        ending<Value> ended;
        co_await run_to_end(context.interrupts.race(begin()), ended);
        try {
            co_return ended.take();
        } catch (const boost::system::system_error& e) {
            const bool too_late = std::chrono::steady_clock::now() >= wait.until();
            if (!is_outage(e.code()) || is_closed(context.zk) || too_late)
                throw;
        }
        co_await connected_again(context, wait.until());
    }
}

/// The same, and reports outages. Where there is one attempt only, nothing is begun again, and nothing
/// is said before its error.
template <class Value>
asio::awaitable<Value> through_outages(command_context& context,
                                       const wait_options& wait,
                                       const char* report,
                                       const attempt<Value>& begin,
                                       const char* session_report = nullptr) {
    if (wait.at_once())
        co_return co_await answer(context, wait, begin());
    co_return co_await reporting_outages(
        context, report, repeated(context, wait, begin), session_report);
}

/// Awaits such an operation, but not through an outage.
/// @throws system_error not_connected
template <class Value>
asio::awaitable<Value> while_connected(client& zk, asio::awaitable<Value> operation) {
    using namespace asio::experimental::awaitable_operators;
    ending<Value> ended;
    auto first = co_await (run_to_end(std::move(operation), ended) || disconnected(zk));
    if (first.index() == 1)
        throw boost::system::system_error(errc::not_connected);
    co_return ended.take();
}

}  // namespace corozk::program
