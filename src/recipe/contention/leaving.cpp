// SPDX-License-Identifier: Apache-2.0
// How a contender leaves the line, and who is told.
#include "recipe/contention/contention_queue_parts.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/retry.hpp"

#include <utility>

namespace corozk::detail {

/// By its holder, or by one who does not want to wait any more.
void contention_queue::release(contender& c) {
    bool held = c.stage_ == contender::stage_type::granted;
    if (c.stage_ == contender::stage_type::waiting) {
        waiting_.erase(waiting_.iterator_to(c));
        stop_listening(c);
        if (c.request_.try_only)
            --tries_;
    } else {
        hold_ends(c, error_code());
        if (c.held_)
            c.held_->give_back();
    }
    c.stage_ = contender::stage_type::releasing;
    forget_replaced(c);
    ++releasing_;
    c.timer_node::cancel();
    erase(c, held);
    wake();
}

/// @param to_next  whether somebody may be granted what it gives back
void contention_queue::erase(contender& c, bool to_next) {
    if (c.converting_)
        return;  // first it must be clear which node it is
    erase_attached(c);
    if (contender_ptr heir = c.heir()) {
        ++operations_;
        return port_.spawn(leave_place(c.shared_from_this(), std::move(heir)));
    }
    if (to_next && announces_) {
        if (const remote_node* next = next_after(c))
            return announce(c, *next);
    }
    if (to_next && !waiting_.empty()) {
        contender& next = waiting_.front();
        bool unproved = !next.watch_.armed() && !next.proving_;
        if (unproved && next.generation_ == c.generation_)
            return hand_over(c, next);
    }
    auto& op = launch<contender_operation>(
        op_code::erase,
        c.path(),
        c.shared_from_this(),
        [](contention_queue& q, contender_ptr who, operation& answer) { q.erased(*who, answer); });
    op.generation = c.generation_;
    port_.start(op);
}

/// Somebody else's contender right behind one that holds, if it is its turn when that goes.
contention_queue::remote_node* contention_queue::next_after(contender& c) {
    if (lacks_limit())
        return nullptr;
    auto behind = std::next(nodes_.iterator_to(c));
    if (behind == nodes_.end() || behind->local())
        return nullptr;
    walk before(nodes_, *behind);
    walk after(nodes_, *behind, &c);
    before.limit = after.limit = limit_;
    if (!is_next(*settings_->rule, before, after, *behind))
        return nullptr;
    return static_cast<remote_node*>(&*behind);
}

/// Erases one node and makes sure of the next one's in one step: no request of its own for that.
void contention_queue::hand_over(contender& from, contender& to) {
    auto& op = launch<hand_over_operation>(from.shared_from_this(), to.shared_from_this());
    op.generation = from.generation_;
    port_.start(op);
}

/// The same for somebody else's contender: it hears of it, and need not look again.
void contention_queue::announce(contender& from, const remote_node& to) {
    auto& op = launch<hand_over_operation>(from.shared_from_this(), to.path());
    op.generation = from.generation_;
    port_.start(op);
}

namespace {

/// Whether an announcement would fail the next time, too. Otherwise the next one has gone meanwhile,
/// or the limit is another one.
bool is_for_good(const error_code& ec) noexcept {
    return ec != zk_errc::no_node && ec != zk_errc::bad_version && !is_recoverable(ec);
}

}  // namespace

/// @param to  what it was handed over to, if that is ours
void contention_queue::handed_over(contender& from, const contender* to, operation& answer) {
    if (from.stage_ != contender::stage_type::releasing)
        return;
    if (answer.error && !is_session_lost(answer.error)) {
        // Whatever it was, for example that the next one's node may not be read: by itself.
        if (is_outcome_unknown(answer.error)) {
            from.erase_unknown_ = true;
        } else if (!to && is_for_good(answer.error)) {
            announces_ = false;  // not again for each release
        }
        erase(from);
        return;
    }
    checked_ = answer.error ? nullptr : to;
    erased(from, answer);
    evaluate();
    checked_ = nullptr;
}

void contention_queue::erase_attached(contender& c) {
    if (!c.extras_)
        return;
    auto path = std::exchange(c.extras_->attached, {});
    if (!path.empty() && port_.alive(c.generation_))
        port_.use_service<janitor>().erase(std::move(path), c.generation_);
}

void contention_queue::erased(contender& c, operation& answer) {
    if (c.stage_ != contender::stage_type::releasing)
        return;
    error_code result = answer.error;
    if (ask_again(port_, c.generation_, result)) {
        if (is_outcome_unknown(result))
            c.erase_unknown_ = true;
        erase(c);
        return;
    }
    if (result == zk_errc::no_node) {
        distrust_sequences();
        result = c.erase_unknown_ ? error_code() : make_error_code(errc::ownership_lost);
    } else if (result && !is_session_lost(result)) {
        distrust_sequences();  // it goes on as if it were somebody else's
        if (port_.logs(log_level::error)) {
            port_.log(log_level::error,
                      "cannot erase " + answer.path + ": " + result.message() +
                          "; those behind it wait until the session ends");
        }
    }
    bool nothing_ahead = c.coverage_ == coverage_ && nodes_.iterator_to(c) == nodes_.begin();
    if (!result && nothing_ahead)
        past_ = past_contender{c.sequence_, c.czxid_};
    auto call = std::move(c.release_call_);
    remove(c);
    if (call)
        call->complete(result);
}

void contention_queue::remove(contender& c) {
    if (c.stage_ == contender::stage_type::waiting) {
        waiting_.erase(waiting_.iterator_to(c));
        stop_listening(c);
        if (c.request_.try_only)
            --tries_;
    }
    if (c.stage_ == contender::stage_type::releasing)
        --releasing_;
    forget_replaced(c);
    nodes_.erase(nodes_.iterator_to(c));
    --members_;
    c.end();
    c.queue_ = nullptr;
    c.watch_.disarm();
    c.timer_node::cancel();
    wake();
    auto last = std::move(c.self_);
}

}  // namespace corozk::detail
