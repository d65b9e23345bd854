// SPDX-License-Identifier: Apache-2.0
#include "outage.hpp"

namespace corozk::program {

namespace {

asio::awaitable<void> is_connected(client& zk) {
    session_status status = zk.status();
    while (status.state != session_state::connected)
        status = co_await zk.next_status(status);
}

}  // namespace

std::exception_ptr reason_of(std::exception_ptr failure, const client& zk) {
    try {
        std::rethrow_exception(failure);
    } catch (const boost::system::system_error& e) {
        const session_status status = zk.status();
        // Refused credentials also close the connection under what was sent behind them, so that it
        // was not applied.
        const bool follows = e.code() == errc::closed || e.code() == errc::not_connected ||
                             is_outcome_unknown(e.code());
        if (follows && is_closed(zk) && status.reason && status.reason != errc::closed)
            return failure_of(status.reason);
    } catch (...) {
        // says it itself
    }
    return failure;
}

bool is_closed(const client& zk) {
    return zk.status().state == session_state::closed;
}

asio::awaitable<void> connected_until(client& zk, time_point until) {
    using namespace asio::experimental::awaitable_operators;
    // Limits the rate of attempts at a server that fails after each connect.
    co_await pause_for(std::chrono::milliseconds(100));
    ending<void> connected;
    auto first = co_await (run_to_end(is_connected(zk), connected) || pause_until(until));
    if (first.index() == 1)
        throw boost::system::system_error(errc::not_connected);
    connected.take();
}

void report_outage(const command_context& context, const error_code& why, const char* report) {
    const char* name = is_session_lost(why) ? "session_lost" : "connection_lost";
    context.out.event(name, report, {{"message", report}});
}

asio::awaitable<void> report_outages(command_context& context,
                                     bool& was_connected,
                                     const char* report,
                                     const char* session_report) {
    for (session_status status = context.zk.status();;) {
        const bool is_connected = status.state == session_state::connected;
        // Once it is closed, nobody waits any more.
        const bool waits = status.state != session_state::closed;
        // People were told of the outage that it ends in.
        const bool tells_more = session_report || context.options.json;
        if (waits && was_connected && !is_connected)
            report_outage(context, status.reason, report);
        else if (tells_more && status.state == session_state::lost)
            report_outage(context, status.reason, session_report ? session_report : report);
        was_connected = is_connected;
        status = co_await context.zk.next_status(status);
    }
}

asio::awaitable<void> disconnected(client& zk) {
    session_status status = zk.status();
    while (status.state == session_state::connected)
        status = co_await zk.next_status(status);
}

bool is_outage(const error_code& ec) noexcept {
    return is_recoverable(ec) || ec == zk_errc::session_expired || ec == errc::not_connected;
}

asio::awaitable<void> connected_again(command_context& context, time_point until) {
    return context.interrupts.race(connected_until(context.zk, until));
}

}  // namespace corozk::program
