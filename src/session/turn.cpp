// SPDX-License-Identifier: Apache-2.0
// One iteration of the loop: dispatch responses and events, send queued requests, wait.
#include "driver/bound_result.hpp"
#include "driver/request.hpp"
#include "operation/trace.hpp"
#include "session/session.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace corozk::detail {

namespace {

// Bounds of one turn, so that the user's coroutines can run.
constexpr int rounds_per_turn = 4;
constexpr std::size_t deferred_per_turn = 512;
constexpr std::chrono::milliseconds throttled_pause{100};
constexpr std::size_t sends_per_turn = 512;

}  // namespace

void session::wake() noexcept {
    if (!agenda_.want_turn())
        return;
    boost::asio::post(executor_, [self = shared_from_this()] {
        if (self->agenda_.take_posted())
            self->turn();
    });
}

void session::turn() {
    if (!agenda_.begin_turn())
        return;
    auto self = shared_from_this();
    heed_fork();
    // First, because a process that was suspended for too long must not act on old events.
    if (past_deadline())
        session_lost(zk_errc::session_expired);
    time_point long_enough = now() + std::chrono::milliseconds(2);
    if (!closing_.parting()) {
        link_.process();
    } else if (link_.wire().hung_up()) {
        // ClickHouse Keeper does not respond to it.
        if (link_.wire().close_confirmed() || options_.dialect == server_dialect::zookeeper_3_4)
            closing_.hung_up();
        else
            closing_.fail();
        finish_closing();
    } else if (link_.wire().close_confirmed()) {
        closing_.confirmed(now());
    }
    for (int i = 0; i < rounds_per_turn; ++i) {
        dispatch_arrivals();
        run_deferred();
        remove_persistent_watches();
        send_queued();
        run_handlers();
        if (!traffic_.has_arrivals() && !agenda_.has_deferred() && !can_send())
            break;
        if (now() >= long_enough)
            break;
    }
    leave_server();
    do_chores();
    wait_for_more();
    agenda_.end_turn();
    if (traffic_.has_arrivals() || agenda_.has_deferred() || agenda_.has_handlers() ||
        link_.wire().input() || can_send() || chores_left()) {
        wake();
    }
}

const session_status& session::look() {
    heed_fork();
    if (past_deadline() && agenda_.begin_turn()) {
        session_lost(zk_errc::session_expired);
        agenda_.end_turn();
        wake();
    }
    return status();
}

bool session::past_deadline() const noexcept {
    return alive(status().generation) && clock_.expired(now());
}

void session::dispatch_arrivals() {
    traffic_.begin_dispatch(now());
    allowance time;
    while (arrival* a = traffic_.next_arrival()) {
        switch (a->kind) {
            case arrival::kind_type::answer: dispatch_answer(*a->op); break;
            case arrival::kind_type::session_event: dispatch_session_event(a->session); break;
            case arrival::kind_type::watch_event:
                ++counters_.notifications;
                watches_.report(a->watch, a->path);
                break;
        }
        if (agenda_.stopped() || time.spent())
            return;
    }
}

void session::dispatch_answer(operation& op) {
    const bool sent = op.state == operation::progress::sent;
    traffic_.mark_answered(op);
    if (sent) {
        trace_end(op);
        if (op.error && (op.error == zk_errc::connection_loss || op.error == errc::too_large)) {
            counters_.connection_losses += !op.heartbeat;
        } else {
            ++counters_.responses;
            counters_.request_times.add(traffic_.arrived_at() - op.sent_at);
            traffic_.window().answered(op.sent_at, traffic_.arrived_at(), connector_.timeout());
            const bool throttled = op.error && op.error == zk_errc::throttled;
            if (throttled)
                traffic_.pause_until(now() + throttled_pause);
            const bool settled =
                !op.error || !(is_session_lost(op.error) || is_recoverable(op.error));
            if (settled && needs_leader(op.code))
                clock_.answered(op.sent_at, now());
        }
    }
    const bool failed = sent && op.error;
    const bool refused =
        failed && (op.error == zk_errc::session_closed_require_sasl_auth ||
                   (op.code == op_code::add_auth && op.error == zk_errc::auth_failed));
    const error_code reason = op.error;
    const bool expired = failed && op.error == zk_errc::session_expired &&
                         op.sent_in == status().generation && connection_made();
    bool too_late = false;
    if (op.watch) {
        bool missing = op.code == op_code::exists && op.error == zk_errc::no_node;
        if (sent && (!op.error || missing)) {
            watch_kind kind = missing ? watch_kind::exists : watch_kind::data;
            if (op.code == op_code::children)
                kind = watch_kind::children;
            watches_.armed(kind, op);
            too_late = !alive(status().generation);
        }
        op.detach();
        read_ended(op.path);
    }
    if (op.code == op_code::add_watch) {
        watches_.add_finished(op, sent);
        too_late = sent && !op.error && !alive(status().generation);
        op.detach();
    }
    if (sent && changes_state(op.code) && (!op.error || is_outcome_unknown(op.error)))
        note_change(op);
    op.state = operation::progress::done;
    op.leave_root();
    op.finished();
    // Watches that were armed before were dropped at the end of the session or the start of
    // closing.
    if (too_late)
        watches_.drop_all(status().reason);
    if (agenda_.stopped())
        return;
    if (refused)
        refused_for_good(reason);
    // Observers of this error must not find the session still valid.
    if (expired)
        session_over();
}

void session::dispatch_session_event(handle_state state) {
    switch (state) {
        case handle_state::connected:
        case handle_state::read_only: return established();
        case handle_state::expired: return session_over();
        default: return connection_down();
    }
}

void session::run_deferred() {
    allowance time;
    for (std::size_t i = 0; i < deferred_per_turn && agenda_.has_deferred(); ++i) {
        agenda_.take_deferred().run();
        if (time.spent())
            break;
    }
}

void session::complete(completion handler) {
    if (agenda_.running())
        agenda_.add(std::move(handler));
    else
        post_handler(executor_, std::move(handler));
}

/// Requests that users start in response are sent in the same turn, without waiting for other
/// handlers in the loop.
void session::run_handlers() {
    if (!agenda_.has_handlers())
        return;
    agenda_.suspend_turn();
    allowance time;
    try {
        while (agenda_.has_handlers() && !agenda_.stopped()) {
            agenda_.take_handler().release()->call(handlers_executor_);
            if (time.spent())
                break;
        }
    } catch (...) {
        // The exception leaves `run`; the other handlers are called when that continues.
        agenda_.end_turn();
        wake();
        throw;
    }
    agenda_.resume_turn();
}

bool session::can_send_to_server() const noexcept {
    const bool usable =
        connector_.open() ? !connector_.search().leaving() && link_.connected() : still_connected();
    return usable && !link_.wire().congested();
}

bool session::can_send() const noexcept {
    return (traffic_.can_send() || watches_.has_unset() || watches_.has_lost()) &&
           can_send_to_server();
}

void session::send_queued() {
    if (can_send() && set_watches())
        send_requests();
    link_.wire().flush();
}

void session::send_requests() {
    time_point sent_at = now();
    allowance time;
    for (std::size_t i = 0; i < sends_per_turn && traffic_.can_send() && can_send_to_server();
         ++i) {
        operation& op = traffic_.take_queued();
        if (op.generation != 0 && op.generation != status().generation) {
            refuse(op, zk_errc::session_expired);
            continue;
        }
        if (!op.wanted()) {
            refuse(op, boost::asio::error::operation_aborted);
            continue;
        }
        // A persistent watch that is refused here changes nothing at the server.
        const bool sets = op.code != op_code::add_watch || link_.can_ask(op);
        if (sets && !watches_.sending(op)) {
            refuse(op, zk_errc::no_watcher);
            continue;
        }
        if (!send(op, sent_at)) {
            refuse(op, op.error);
            continue;
        }
        op.submitted();
        trace_start(op, status().session_id);
        if (op.code == op_code::children)
            ++counters_.listings;
        if (time.spent())
            return;
    }
}

/// @return false, with `op.error` set, if the server does not know it
bool session::send(operation& op, time_point at) {
    if (!link_.submit(op))
        return false;
    op.state = operation::progress::sent;
    op.sent_at = at;
    op.sent_in = status().generation;
    traffic_.mark_sent(op);
    ++counters_.requests;
    return true;
}

// ---------------------------------------------------------------------------------------------
// Waiting

/// There is a connection, although the session may not be usable yet.
bool session::connection_made() const noexcept {
    return connector_.verifying() || connector_.open() || closing_.draining();
}

void session::wait_for_more() {
    if (closing_.parting()) {
        link_.wire().wait();
    } else if (link_.client() && (connector_.attempting() || connection_made())) {
        if (link_.wait()) {
            if (link_.wire().authenticating())
                connector_.authenticating();
            else if (link_.is(handle_state::associating))
                connector_.accepted();
            else if (link_.wire().shaking_hands())
                connector_.shaking_hands();
        } else if (!traffic_.has_arrivals()) {
            connection_down();
            // The next attempt may have started: wait for its socket as well.
            if (connector_.attempting())
                return wait_for_more();
        }  // otherwise what has arrived is dispatched in the next turn
    }
    if (closing_.draining())
        go_on_closing();
    arm_timer();
}

/// How long requests wait for a connection: for the first one as long as the client tries.
time_limit session::queue_patience() const noexcept {
    if (connector_.open() || status().state == session_state::connecting)
        return time_limit::for_ever();
    return options_.queue_timeout.count() > 0 ? options_.queue_timeout : connector_.timeout();
}

/// Often enough for the C client's pings.
std::chrono::milliseconds session::check_interval() const noexcept {
    using std::chrono::milliseconds;
    return std::max<milliseconds>(connector_.timeout() / 10, milliseconds(10));
}

void session::arm_timer() {
    time_point due = std::min({connector_.deadline(),
                               closing_.deadline(),
                               traffic_.deadline(queue_patience()),
                               traffic_.resumes_at(),
                               timers_.first(),
                               heartbeat_due(),
                               silence_deadline(),
                               leader_deadline()});
    if (alive(status().generation))
        due = std::min(due, clock_.deadline());
    if (connection_made()) {
        due = std::min(due, timers_.checked_at() + check_interval());
    }
    timers_.wait(due, [self = shared_from_this()] { self->on_timer(); });
}

void session::on_timer() {
    heed_fork();
    if (!agenda_.begin_turn())
        return;
    // What has arrived meanwhile may not be known yet, and nothing was sent that could be answered.
    const bool was_away = timers_.check(now(), check_interval());
    link_.look_after_client();
    if (past_deadline())
        session_lost(zk_errc::session_expired);
    advance();
    heartbeat();
    if (closing_.active())
        go_on_closing();
    traffic_.resume(now());
    check_chroot_again();
    traffic_.refuse_late(queue_patience(), now());
    timers_.run(now());
    agenda_.end_turn();
    turn();
    if (!was_away)
        give_up_useless_server();
}

}  // namespace corozk::detail
