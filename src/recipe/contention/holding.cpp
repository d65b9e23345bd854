// SPDX-License-Identifier: Apache-2.0
// What a contender is granted, and how it is known that its node is there.
#include "recipe/contention/contention_queue_parts.hpp"
#include "recipe/toolkit/retry.hpp"
#include <corozk/tracer.hpp>

#include <utility>

namespace corozk::detail {

void contention_queue::hold_begins(contender& c) {
    auto asked_at = std::exchange(c.since_, port_.now());
    ++port_.counters().grants;
    port_.counters().wait_times.add(c.since_ - asked_at);
    if (tracer* to = current_tracer()) {
        std::string path = c.path();
        trace_point what;
        what.kind = trace_kind::tenure;
        what.name = "hold";
        what.path = path;
        what.session_id = port_.status().session_id;
        c.more().span = to->started(what);
    }
}

void contention_queue::hold_ends(contender& c, error_code reason) {
    if (holder_ == &c)
        holder_ = nullptr;
    port_.counters().hold_times.add(port_.now() - c.since_);
    auto span = c.extras_ ? std::exchange(c.extras_->span, 0) : 0;
    if (tracer* to = current_tracer(); to && span != 0)
        to->finished(span, reason);
}

void contention_queue::grant(contender& c) {
    waiting_.erase(waiting_.iterator_to(c));
    if (c.request_.try_only)
        --tries_;
    c.stage_ = contender::stage_type::granted;
    holder_ = &c;
    hold_begins(c);
    stop_listening(c);
    c.timer_node::cancel();
    if (!c.watch_.armed() || c.listens())
        port_.start_timer(c, c.since_ + watch_delay);
    auto call = std::move(c.call_);
    if (c.replaces())
        return granted_replacement(c, call);
    call.complete(error_code(), ownership(port_.keep_alive(), c.shared_from_this()));
}

void contention_queue::prove(contender& c) {
    if (c.proving_ || c.converting_)
        return;
    c.proving_ = true;
    auto& op = launch<contender_operation>(
        op_code::get,
        c.path(),
        c.shared_from_this(),
        [](contention_queue& q, contender_ptr who, operation& answer) { q.proved(*who, answer); });
    op.generation = c.generation_;
    op.attach(c.watch_);
    port_.start(op);
}

void contention_queue::proved(contender& c, operation& answer) {
    c.proving_ = false;
    bool concerned =
        c.stage_ == contender::stage_type::waiting || c.stage_ == contender::stage_type::granted;
    if (!concerned)
        return;
    if (answer.path != c.path()) {
        // It has another node since.
        c.watch_.disarm();
        prove(c);
        return;
    }
    if (!answer.error && answer.record.czxid == c.czxid_) {
        c.inspect(answer);
        return;
    }
    if (ask_again(port_, c.generation_, answer.error))
        return;  // looked at again after the reconnect
    if (is_session_lost(answer.error))
        return;  // the session's end settles it
    if (answer.error && answer.error != zk_errc::no_node) {
        if (c.stage_ == contender::stage_type::waiting) {
            auto keep = c.shared_from_this();
            c.call_.fail(answer.error);
            release(c);
        }
        return;
    }
    // Erased by somebody else.
    distrust_sequences();
    auto keep = c.shared_from_this();
    bool granted = c.stage_ == contender::stage_type::granted;
    if (granted) {
        hold_ends(c, errc::ownership_lost);
        remove(c);
        c.held().lose(errc::ownership_lost);
    } else {
        fail(c, errc::ownership_lost);
    }
}

}  // namespace corozk::detail
