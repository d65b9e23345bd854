// SPDX-License-Identifier: Apache-2.0
// What is due when: one timer for all.
#include "session/internal_operation.hpp"
#include "session/session.hpp"

#include <algorithm>
#include <memory>

namespace corozk::detail {

/// Until when it waits for a connection. For the first one: as long as the client tries.
time_point session::queue_deadline(const operation& op) const noexcept {
    if (phase_ == phase_type::open || status_.state == session_state::connecting)
        return time_point::max();
    bool given = options_.queue_timeout.count() > 0;
    return time_limit(given ? options_.queue_timeout : timeout_).from(op.queued_at);
}

void session::arm_timer() {
    using namespace std::chrono_literals;
    time_point due = time_point::max();
    auto sooner = [&due](time_point t) { due = std::min(due, t); };
    time_point current = now();
    switch (phase_) {
        case phase_type::attempting:
            sooner(attempt_deadline_);
            break;
        case phase_type::verifying:
        case phase_type::open:
        case phase_type::draining:
            // Often enough for heartbeats and for the C client to notice a silent server.
            sooner(current + std::max<std::chrono::milliseconds>(timeout_ / 10, 10ms));
            break;
        case phase_type::waiting:
            sooner(retry_at_);
            break;
        case phase_type::resolving:
            sooner(patience_ends_);
            break;
        default:
            break;
    }
    sooner(ask_at_);
    if (!connect_calls_.empty())
        sooner(connect_deadline_);
    if (phase_ == phase_type::draining || phase_ == phase_type::parting)
        sooner(close_deadline_);
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
    if (!connect_calls_.empty() && current >= connect_deadline_ && phase_ != phase_type::open) {
        give_up_connecting(connect_problem());
    }
    if (phase_ == phase_type::attempting && current >= attempt_deadline_ && !arrivals_left())
        attempt_failed();
    if (phase_ == phase_type::waiting && current >= retry_at_)
        begin_round();
    if (phase_ == phase_type::resolving && current >= patience_ends_)
        use_known_addresses();
    if (current >= ask_at_)
        look_for_quorum();
    if (phase_ == phase_type::open) {
        notice_silence();
        heartbeat();
    }
    if ((phase_ == phase_type::draining || phase_ == phase_type::parting) &&
        current >= close_deadline_) {
        finish_closing(errc::session_left_to_expire);
    }
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
        now() - heartbeat_->sent_at >= timeout_ / 3)
        handle_->abort();
}

void session::heartbeat() {
    // Ours come before the C client's own pings, whose answers it keeps to itself.
    if (now() - last_sent_ < timeout_ * 3 / 10)
        return;
    if (heartbeat_ && heartbeat_->state != operation::progress::done &&
        heartbeat_->state != operation::progress::idle) {
        return;
    }
    heartbeat_ = std::make_unique<internal_operation>(op_code::exists, "/", [](operation&) {});
    start(*heartbeat_);
}

}  // namespace corozk::detail
