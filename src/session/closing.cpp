// SPDX-License-Identifier: Apache-2.0
// Ending a session. As the C client's own closing blocks for up to 4.5 s, `closing_steps` replaces
// it, and the C client only frees its resources.
#include "driver/pending_call.hpp"
#include "session/session.hpp"

#include <utility>

namespace corozk::detail {

void session::close(user_call<> call, bool leaving) {
    heed_fork();
    call.ahead_of_copies();
    if (over() && calls_.closing.empty()) {
        // One that was to be continued lives on, if no server was asked for it.
        const bool unasked = identity_.to_continue().has_value();
        const error_code result =
            unasked ? make_error_code(errc::session_left_to_expire) : closing_.result();
        begin_closing();
        return call.complete(leaving ? error_code() : result);
    }
    calls_.closing.push_back({cancellable(std::move(call), stops_waiting), leaving});
    begin_closing(leaving);
}

void session::release() noexcept {
    heed_fork();
    // A view may still be there, but nobody who would end another session.
    views_.ownerless = true;
    begin_closing();
}

/// In the child of a fork, connection and session belong to the parent and are left alone.
void session::heed_fork() {
    if (agenda_.stopped() || !link_.leave_to_parent())
        return;
    random_ = seeded();
    for (auto& question : inquiries_.quorum)
        question->leave_to_parent();
    if (closing_.active()) {
        closing_.fail();
        finish_closing();
    } else if (!connector_.idle()) {
        identity_ = {};
        fail_for_good(errc::closed);
    }
}

/// Neither connected nor connecting nor closing.
bool session::over() const noexcept {
    return agenda_.stopped() || (connector_.idle() && !closing_.active());
}

void session::begin_closing(bool leaving) {
    if (status().state == session_state::closed)
        return;
    const bool had_session = identity_.at_server(status().state == session_state::connecting);
    const time_point deadline = time_limit(options_.close_timeout).from(now());
    closing_.begin(link_.connected(), had_session, deadline, leaving);
    wake();  // first: what is stopped may be the only work of the context
    stop_connecting();
    for (auto& [call, until] : std::exchange(calls_.connecting, {}))
        call->fail(errc::closed);
    set_state(session_state::closed, errc::closed);
    watches_.drop_all(errc::closed);
    traffic_.refuse_queued(errc::closed, [this](const operation& op) { return still_sends(op); });
    if (!closing_.active())
        finish_closing();
}

/// Closing, with a connection that still carries requests.
bool session::still_connected() const noexcept {
    return closing_.draining() && link_.connected();
}

/// While closing. The end of the session does what is bound to it, unless the session is left.
bool session::still_sends(const operation& op) const noexcept {
    return op.owed && still_connected() && (op.generation == 0 || closing_.leaving());
}

void session::go_on_closing() {
    closing_steps::connection_type connection;
    connection.connected = link_.connected();
    // What was deferred may owe something, too.
    const bool owes = connection.connected && (traffic_.queued() > 0 || agenda_.has_deferred());
    connection.settled = traffic_.awaited() == 0 && !watches_.notifying() && !owes;
    switch (closing_.next(connection, now())) {
        case closing_steps::action::wait: break;
        case closing_steps::action::send_close_request:
            if (!link_.send_close_request())
                closing_.fail();
            if (!closing_.active())
                finish_closing();
            break;
        case closing_steps::action::send_ping: link_.wire().send_ping(); break;
        case closing_steps::action::finish: finish_closing(); break;
    }
}

void session::finish_closing() {
    if (closing_.session_ended())
        identity_.expired();
    retire_client();
    link_.close();
    traffic_.refuse_queued(errc::closed);
    complete_close_calls();
}

/// After notifying the waiters of watches.
void session::complete_close_calls() {
    if (closing_.active() || watches_.notifying())
        return;
    for (auto& [call, leaving] : std::exchange(calls_.closing, {}))
        call->complete(leaving ? error_code() : closing_.result());
}

void session::fail_for_good(error_code reason) {
    wake();  // first, as in begin_closing
    stop_connecting();
    retire_client();
    link_.close();
    auto calls = std::exchange(calls_.connecting, {});
    set_state(session_state::closed, reason);
    watches_.drop_all(reason);
    traffic_.refuse_queued(errc::closed);
    for (auto& [call, until] : calls)
        call->fail(reason);
}

void session::retire_client() {
    auto last = link_.take();
    if (!last)
        return;
    last.reset();  // which may report a last event
    traffic_.drop_session_events();
}

}  // namespace corozk::detail
