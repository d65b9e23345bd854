// SPDX-License-Identifier: Apache-2.0
// What is due when: one timer for all.
#include "session/internal_operation.hpp"
#include "session/session.hpp"

#include <algorithm>
#include <memory>

namespace corozk::detail {

/// Until when it waits for a connection. For the first one: as long as the client tries.
time_point session::queue_deadline(const operation& op) const noexcept {
    if (connector_.open() || status_.state == session_state::connecting)
        return time_point::max();
    bool given = options_.queue_timeout.count() > 0;
    return time_limit(given ? options_.queue_timeout : connector_.timeout()).from(op.queued_at);
}

void session::arm_timer() {
    using namespace std::chrono_literals;
    time_point due = time_point::max();
    auto sooner = [&due](time_point t) { due = std::min(due, t); };
    time_point current = now();
    if (connection_made()) {
        // Often enough for heartbeats and for the C client to notice a silent server.
        sooner(current + std::max<std::chrono::milliseconds>(connector_.timeout() / 10, 10ms));
    }
    sooner(connector_.deadline());
    sooner(closing_.deadline());
    if (alive(status_.generation))
        sooner(clock_.deadline());
    if (!outbox_.empty())
        sooner(queue_deadline(outbox_.front()));
    if (!timers_.empty())
        sooner(timers_.begin()->when);
    if (due == time_point::max()) {
        if (timer_due_ != time_point::max()) {
            ++timer_epoch_;
            timer_->cancel();
            timer_due_ = time_point::max();
        }
        return;
    }
    // A timer that fires too early does no harm: it looks, and is set again.
    if (timer_due_ <= due)
        return;
    timer_due_ = due;
    ++timer_epoch_;
    timer_->expires_at(due);
    timer_->async_wait([self = shared_from_this(), epoch = timer_epoch_](const error_code& ec) {
        if (ec || epoch != self->timer_epoch_)
            return;
        self->timer_due_ = time_point::max();
        self->on_timer();
    });
}

void session::on_timer() {
    if (abandoned_)
        return;
    heed_fork();
    in_turn_ = true;
    time_point current = now();
    if (past_deadline())
        session_lost(zk_errc::session_expired);
    advance();
    if (connector_.open()) {
        notice_silence();
        heartbeat();
    }
    if (closing_.active())
        go_on_closing();
    while (!outbox_.empty() && current >= queue_deadline(outbox_.front())) {
        operation& op = outbox_.front();
        outbox_.pop_front();
        refuse(op, errc::not_connected);
    }
    while (!timers_.empty() && timers_.begin()->when <= current) {
        timer_node& t = *timers_.begin();
        t.cancel();
        t.expired();
    }
    in_turn_ = false;
    turn();
}

/// Where the C client does not: it is not asked how long to wait while it is read-only.
void session::notice_silence() {
    bool waiting = heartbeat_ && heartbeat_->state == operation::progress::sent;
    if (waiting && handle_->state() == handle_state::read_only &&
        now() - heartbeat_->sent_at >= connector_.timeout() / 3)
        handle_->abort();
}

void session::heartbeat() {
    // Ours come before the C client's own pings, whose answers it keeps to itself.
    if (now() - last_sent_ < connector_.timeout() * 3 / 10)
        return;
    if (heartbeat_ && heartbeat_->state != operation::progress::done &&
        heartbeat_->state != operation::progress::idle) {
        return;
    }
    heartbeat_ = std::make_unique<internal_operation>(op_code::exists, "/", [](operation&) {});
    start(*heartbeat_);
}

}  // namespace corozk::detail
