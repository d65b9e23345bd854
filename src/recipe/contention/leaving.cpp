// SPDX-License-Identifier: Apache-2.0
// Leaving the queue, and hand-over.
#include "driver/pending_call.hpp"
#include "operation/path.hpp"
#include "recipe/contention/contention_queue.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/retry.hpp"

#include <utility>

namespace corozk::detail {

using stage = local_node::stage_type;

/// The user's call has been completed.
void contention_queue::abandoned(contender& c, error_code reason) {
    if (c.state == stage::waiting)
        return release(c);
    if (c.has_node() || c.state == stage::gone)
        return;
    // If nothing was sent, there is no node.
    bool taken_back = c.create_ && port_.withdraw(*c.create_);
    if (taken_back) {
        std::exchange(c.create_, nullptr)->abandoned();
        creation_.taken_back();
        --operations_;
    }
    if (taken_back || c.state == stage::queued)
        fail(c, reason);
    else
        c.state = stage::unwanted;
}

void contention_queue::abandon_waiting(error_code reason, std::int32_t above_weight) {
    std::vector<contender_ptr> chosen;
    for (local_node& c : view_.waiting()) {
        if (c.weight > above_weight)
            chosen.push_back(static_cast<contender&>(c).shared_from_this());
    }
    for (const auto& c : chosen)
        c->abandon(reason);
}

/// Called for holders and for abandoned waiters.
void contention_queue::release(contender& c) {
    bool held = c.state == stage::granted;
    if (held) {
        hold_ends(c, error_code());
        if (c.extras_)
            c.extras_->held.give_back();
    } else {
        stop_listening(c);
    }
    view_.releasing(c);
    forget_replaced(c);
    c.timer_node::cancel();
    erase(c, held);
    wake();
}

/// @param to_next whether another contender may be granted
void contention_queue::erase(contender& c, bool to_next) {
    if (c.converting)
        return;  // its node has to be identified first
    erase_attached(c);
    if (contender_ptr heir = c.heir())
        return start_driver(leave_place(c.shared_from_this(), std::move(heir)));
    if (to_next) {
        if (const remote_node* next = view_.successor_of(c))
            return announce(c, *next);
        if (auto next = to_prove(); !next.empty() && next.front()->session == c.session)
            return hand_over(c, std::move(next));
    }
    operation& op = ask_about<&contention_queue::erased>(c, op_code::erase, c.path());
    op.owed = true;
    port_.start(op);
}

/// Deletes a node and checks the next ones' in one transaction, which saves requests.
void contention_queue::hand_over(contender& from, std::vector<contender_ptr> to) {
    transaction all;
    all.erase(from.path());
    for (const contender_ptr& next : to) {
        next->checking = true;
        all.check(next->path());
    }
    operation& op = ask(op_code::multi,
                        from.path(),
                        [this, c = from.shared_from_this(), to = std::move(to)](operation& answer) {
                            for (const contender_ptr& next : to)
                                next->checking = false;
                            handed_over(*c, answer, to);
                        });
    op.steps = std::move(all).steps();
    op.generation = from.session;
    op.owed = true;
    port_.start(op);
}

/// Same as above for a remote contender, which is notified and need not list again.
void contention_queue::announce(contender& from, const remote_node& to) {
    operation& op =
        ask(op_code::multi, from.path(), [this, c = from.shared_from_this()](operation& answer) {
            handed_over(*c, answer);
        });
    std::string next = path_of(to.name);
    std::string announcement = announcement_of(next);
    transaction all;
    if (settings_->initial_limit > 0)
        all.check(settings_->parent, view_.limit().version());
    all.check(next).create(announcement, std::string(), settings_->ephemeral());
    all.erase(announcement).erase(op.path);
    op.steps = std::move(all).steps();
    op.generation = from.session;
    op.owed = true;
    port_.start(op);
}

/// @param to the next contenders, if they are local
void contention_queue::handed_over(contender& from,
                                   operation& answer,
                                   std::span<const contender_ptr> to) {
    if (from.state != stage::releasing)
        return;
    if (answer.error && !is_session_lost(answer.error)) {
        // Not permitted, for example because the next node may not be read: delete it separately.
        if (fault_of(answer.error) == fault::unknown)
            from.erase_unknown = true;
        else if (to.empty())
            view_.announcement_failed(answer.error);
        return erase(from);
    }
    erased(from, answer);
    evaluate(answer.error ? std::span<const contender_ptr>() : to);
}

void contention_queue::erase_attached(contender& c) {
    if (!c.extras_)
        return;
    auto path = std::exchange(c.extras_->attached, {});
    if (!path.empty() && port_.alive(c.session))
        port_.use_service<background_deleter>().erase(std::move(path), c.session);
}

void contention_queue::erased(contender& c, operation& answer) {
    if (c.state != stage::releasing)
        return;
    error_code result = answer.error;
    retry attempt(port_, c.session);
    if (attempt.again(result)) {
        c.erase_unknown = c.erase_unknown || attempt.doubtful();
        return erase(c);
    }
    if (result == zk_errc::not_read_only && attempt.possible())
        return start_driver(erase_with_quorum(c.shared_from_this()));
    if (result == zk_errc::no_node) {
        view_.distrust_sequences();
        result = c.erase_unknown ? error_code() : make_error_code(errc::ownership_lost);
    } else if (result && !is_session_lost(result)) {
        view_.distrust_sequences();  // treated as a remote contender from here on
        port_.report(log_level::error,
                     "cannot delete ",
                     answer.path,
                     ": ",
                     result.message(),
                     "; those behind it wait until the session ends");
    }
    auto call = std::move(c.release_call_);
    remove(c, !result);
    if (call)
        call->complete(result);
}

task<> contention_queue::erase_with_quorum(contender_ptr c) {
    co_await quorum_back(port_);
    if (c->state == stage::releasing)
        erase(*c);
    driver_ended();
}

/// The contender has no node, or none that can be deleted.
void contention_queue::fail(contender& c, error_code reason) {
    auto keep = c.shared_from_this();
    if (c.has_node()) {
        remove(c);
    } else if (c.state != stage::gone) {
        creation_.remove(c);
        dismiss(c);
        create_some();  // its create may have been withdrawn
    }
    auto call = std::move(c.call_);
    call.fail(reason);
}

void contention_queue::remove(contender& c, bool deleted) {
    if (c.state == stage::waiting)
        stop_listening(c);
    view_.left(c, deleted);
    dismiss(c);
}

void contention_queue::dismiss(contender& c) {
    forget_replaced(c);
    c.end();
    c.queue_ = nullptr;
    c.watch_.disarm();
    c.timer_node::cancel();
    wake();
    auto last = std::move(c.self_);
}

contention_queue::~contention_queue() {
    // Users may keep contenders for longer, without a queue.
    auto last = placed_contenders();
    for (const auto& c : last)
        view_.left(*c, false);
    while (auto* c = static_cast<contender*>(creation_.first())) {
        creation_.remove(*c);
        last.push_back(c->shared_from_this());
    }
    for (const auto& c : last) {
        c->queue_ = nullptr;
        c->state = stage::gone;
        c->self_.reset();
    }
}

}  // namespace corozk::detail
