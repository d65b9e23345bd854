// SPDX-License-Identifier: Apache-2.0
// One turn of the loop: what has arrived is told, what waits is sent.
#include "driver/request.hpp"
#include "operation/trace.hpp"
#include "session/allowance.hpp"
#include "session/session.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace corozk::detail {

namespace {

// Bounds of one turn, so that the user's coroutines get theirs.
constexpr int rounds_per_turn = 4;
constexpr std::size_t packets_per_turn = 256;
constexpr std::size_t deferred_per_turn = 512;
constexpr std::size_t sends_per_turn = 512;

// More would only grow buffers: the server is the limit long before.
constexpr std::size_t max_in_flight = 2048;

}  // namespace

void session::wake() noexcept {
    if (in_turn_ || abandoned_)
        return;
    turn_wanted_ = true;
    if (std::exchange(wake_posted_, true))
        return;
    boost::asio::post(executor_, [self = shared_from_this()] {
        self->wake_posted_ = false;
        if (self->turn_wanted_)
            self->turn();
    });
}

void session::turn() {
    if (abandoned_ || in_turn_)
        return;
    auto self = shared_from_this();
    heed_fork();
    in_turn_ = true;
    // First of all: a process that was stopped for too long must not act on old news.
    if (past_deadline())
        session_lost(zk_errc::session_expired);
    time_point long_enough = now() + std::chrono::milliseconds(2);
    read_packets();
    for (int i = 0; i < rounds_per_turn; ++i) {
        dispatch_arrivals();
        run_deferred();
        send_queued();
        run_completions();
        if (!arrivals_left() && deferred_.empty() && !sends_left())
            break;
        if (now() >= long_enough)
            break;
    }
    do_chores();
    wait_for_more();
    in_turn_ = false;
    turn_wanted_ = arrivals_left() || !deferred_.empty() || !completions_.empty() ||
                   (readable_ && monitor_.open()) || sends_left() || chores_left();
    if (turn_wanted_)
        wake();
}

const session_status& session::look() {
    heed_fork();
    if (!abandoned_ && !in_turn_ && past_deadline()) {
        in_turn_ = true;
        session_lost(zk_errc::session_expired);
        in_turn_ = false;
        wake();
    }
    return status_;
}

bool session::past_deadline() noexcept {
    return alive(status_.generation) && clock_.expired(now());
}

void session::read_packets() {
    if (closing_.parting()) {
        if (readable_)
            part();
        return;
    }
    if (!handle_ || !handle_->open()) {
        readable_ = writable_ = false;
        return;
    }
    if (writable_) {
        writable_ = false;
        monitor_.cork(true);
        auto result = handle_->process(false, true);
        monitor_.cork(false);
        if (result == handle::progress::failed)
            return;
    }
    allowance time;
    for (std::size_t i = 0; readable_ && i < packets_per_turn; ++i) {
        if (handle_->process(true, false) != handle::progress::packet)
            readable_ = false;
        if (time.spent())
            break;
    }
}

void session::dispatch_arrivals() {
    if (next_arrival_ == batch_.size()) {
        batch_.clear();
        batch_.swap(inbox_);
        next_arrival_ = 0;
        if (!batch_.empty())
            arrived_at_ = now();
    }
    allowance time;
    while (next_arrival_ < batch_.size()) {
        arrival& a = batch_[next_arrival_++];
        switch (a.kind) {
            case arrival::kind_type::answer:
                dispatch_answer(*a.op);
                break;
            case arrival::kind_type::session_event:
                dispatch_session_event(a.session);
                break;
            case arrival::kind_type::watch_event:
                dispatch_watch_event(a.watch, a.path);
                break;
        }
        if (abandoned_ || time.spent())
            return;
    }
}

void session::dispatch_answer(operation& op) {
    op.unlink();
    if (op.state == operation::progress::sent) {
        --in_flight_;
        trace_end(op);
        if (op.error == zk_errc::connection_loss) {
            ++counters_.connection_losses;
        } else {
            ++counters_.answers;
            counters_.request_times.add(arrived_at_ - op.sent_at);
            if (keeps_session_ && !is_session_lost(op.error) && !is_recoverable(op.error)) {
                clock_.answered(op.sent_at);
            }
        }
    }
    bool stranger = op.state == operation::progress::sent &&
                    op.error == zk_errc::session_closed_require_sasl_auth;
    bool over = op.state == operation::progress::sent && op.error == zk_errc::session_expired &&
                op.sent_in == status_.generation && connection_made();
    bool too_late = false;
    if (op.watch) {
        bool missing = op.code == op_code::exists && op.error == zk_errc::no_node;
        if (op.state == operation::progress::sent && (!op.error || missing)) {
            watch_node* node = op.watcher();
            if (op.code == op_code::children) {
                watches_.armed(watch_kind::children, op.path, op.record.pzxid, node);
            } else if (missing) {
                watches_.armed(watch_kind::exists, op.path, 0, node);
            } else {
                watches_.armed(watch_kind::data, op.path, op.record.mzxid, node);
            }
            too_late = !alive(status_.generation);
        }
        op.detach();
        read_ended(op.path);
    }
    if (op.state == operation::progress::sent && changes_state(op.code) &&
        (!op.error || is_outcome_unknown(op.error))) {
        note_change(op);
    }
    op.state = operation::progress::done;
    op.inbox = nullptr;
    op.foreign.reset();
    op.finished();
    // Those that were armed before were dropped when the session ended, or the closing began.
    if (too_late)
        watches_.drop_all(status_.reason);
    if (abandoned_)
        return;
    if (stranger)
        authentication_demanded();
    // Whoever is told so must not find the same session in order when it looks.
    if (over)
        session_over();
}

void session::dispatch_session_event(handle_state state) {
    followed_ = false;
    switch (state) {
        case handle_state::connected:
            established(false);
            break;
        case handle_state::read_only:
            established(true);
            break;
        case handle_state::expired:
            session_over();
            break;
        case handle_state::auth_failed:
            authentication_failed();
            break;
        default:
            connection_down();
            break;
    }
}

void session::dispatch_watch_event(watch_event_type type, const std::string& path) {
    ++counters_.notifications;
    switch (type) {
        case watch_event_type::children_changed:
            watches_.fire(watch_kind::children, path, type);
            break;
        case watch_event_type::created:
        case watch_event_type::data_changed:
            watches_.fire(watch_kind::data, path, type);
            watches_.fire(watch_kind::exists, path, type);
            break;
        default:
            watches_.fire(watch_kind::data, path, type);
            watches_.fire(watch_kind::exists, path, type);
            watches_.fire(watch_kind::children, path, type);
            break;
    }
}

void session::run_deferred() {
    allowance time;
    for (std::size_t i = 0; i < deferred_per_turn && !deferred_.empty(); ++i) {
        deferred& d = deferred_.front();
        deferred_.pop_front();
        d.run();
        if (time.spent())
            break;
    }
}

void session::complete(completion handler) {
    if (in_turn_)
        completions_.push_back(std::move(handler));
    else
        boost::asio::post(executor_, std::move(handler));
}

/// What users do next goes out in the turn that has brought them the news: it does not wait for
/// what else is ready in the loop.
void session::run_completions() {
    if (completions_.empty())
        return;
    in_turn_ = false;  // what they complete themselves is not called inside of them
    allowance time;
    try {
        while (!completions_.empty() && !abandoned_) {
            completion next = std::move(completions_.front());
            completions_.pop_front();
            std::move(next)();
            ++completed_;
            if (time.spent())
                break;
        }
    } catch (...) {
        // It leaves the loop through whoever runs it; the others are called when that goes on.
        wake();
        throw;
    }
    in_turn_ = true;
}

bool session::can_send() const noexcept {
    return connector_.open() && handle_ && handle_->connected() && in_flight_ < max_in_flight;
}

void session::send_queued() {
    if (outbox_.empty() || !can_send())
        return;
    time_point sent_at = now();
    allowance time;
    monitor_.cork(true);
    for (std::size_t i = 0; i < sends_per_turn && !outbox_.empty() && can_send(); ++i) {
        operation& op = outbox_.front();
        outbox_.pop_front();
        if (op.generation != 0 && op.generation != status_.generation) {
            refuse(op, zk_errc::session_expired);
            continue;
        }
        op.state = operation::progress::sent;
        op.sent_at = sent_at;
        op.sent_in = status_.generation;
        if (!handle_->submit(op)) {
            op.state = operation::progress::queued;
            op.sent_in = 0;
            refuse(op, op.error);
            continue;
        }
        sent_.push_back(op);
        trace_start(op, status_.session_id);
        ++in_flight_;
        ++counters_.requests;
        if (op.code == op_code::children)
            ++counters_.listings;
        last_sent_ = sent_at;
        if (time.spent())
            break;
    }
    // Sending failed inside the C client, which now sits on requests of a dead connection.
    if (!handle_->open()) {
        handle_->abort();
        connection_down();
    }
    monitor_.cork(false);
}

/// There is a connection, even if it is not known whether the session can be used.
bool session::connection_made() const noexcept {
    return connector_.verifying() || connector_.open() || closing_.draining();
}

void session::wait_for_more() {
    if (closing_.parting()) {
        monitor_.wait_readable(shared_from_this());
    } else if (handle_ && (connector_.attempting() || connection_made()) && !follow_socket()) {
        // What the C client recorded about its end is dispatched in the next turn.
        if (!arrivals_left()) {
            connection_down();
            // The next server may have been asked at once: nobody else waits for its socket.
            if (connector_.attempting())
                return wait_for_more();
        }
    }
    if (closing_.draining())
        go_on_closing();
    arm_timer();
}

/// Waits for the C client's socket. @return false if it has none any more.
bool session::follow_socket() {
    if (!handle_->open())
        return false;
    auto interest = handle_->interest();
    // While it stays connected the C client keeps its socket.
    bool connected = handle_->connected();
    if (!connected || !followed_)
        monitor_.follow(interest.descriptor);
    followed_ = connected;
    if (!handle_->open())
        return false;
    if (handle_->state() == handle_state::associating)
        connector_.accepted();
    if (!readable_)
        monitor_.wait_readable(shared_from_this());
    if (interest.write)
        monitor_.wait_writable(shared_from_this());
    return true;
}

}  // namespace corozk::detail
