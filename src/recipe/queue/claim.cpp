// SPDX-License-Identifier: Apache-2.0
// Acknowledging, releasing and losing a claim.
#include "recipe/queue/claim.hpp"

#include "recipe/queue/consumer.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/retry.hpp"

namespace corozk::detail {

claim_impl::claim_impl(std::shared_ptr<queue_consumer> consumer, queue_item item, claim_node node)
    : port_(node.owner),
      wake_(port_),
      consumer_(std::move(consumer)),
      item_(std::move(item)),
      item_path_(consumer_->settings().item_path(item_.name)),
      node_(std::move(node)) {}

bool claim_impl::exists() const noexcept {
    return state_ <= state_type::releasing && port_.alive(node_.generation);
}

bool claim_impl::still_exists() {
    if (!exists() && state_ == state_type::held)
        end(state_type::lost);
    return exists();
}

error_code claim_impl::loss() const noexcept {
    return port_.alive(node_.generation) ? errc::ownership_lost : end_of_session(port_);
}

void claim_impl::complete_lost_call(error_code ec) {
    if (lost_call_)
        lost_call_->complete(ec, lost_reason_);
}

void claim_impl::end(state_type state, const error_code& learned) {
    if (has_ended())
        return;
    state_ = state;
    error_code ec;
    if (state == state_type::lost)
        lost_reason_ = fault_of(learned) == fault::session ? learned : loss();
    else
        ec = boost::asio::error::operation_aborted;
    complete_lost_call(ec);
    wake_.set();
    consumer_->claim_ended(item_.name, state == state_type::acknowledged);
}

void claim_impl::stop() {
    stopped_ = true;
    complete_lost_call(boost::asio::error::operation_aborted);
    wake_.set();
    if (state_ == state_type::held)
        release(nullptr);
}

void claim_impl::acknowledge(transaction extra, std::unique_ptr<pending_call<>> call) {
    if (is_ending())
        return call->fail(errc::busy);
    if (!still_exists()) {
        bool closed = port_.status().state == session_state::closed;
        return call->fail(closed ? errc::closed : errc::ownership_lost);
    }
    state_ = state_type::acknowledging;
    consumer_->acknowledge({shared_from_this(), std::move(extra), std::move(call)});
}

void claim_impl::settle(error_code ec, pending_call<>& call) {
    if (!ec) {
        end(state_type::acknowledged);
    } else if (ec == errc::ownership_lost || fault_of(ec) == fault::session) {
        end(state_type::lost, ec);
        ec = errc::ownership_lost;
    } else {
        state_ = state_type::held;
        wake_.set();
        if (!still_exists() && ec != errc::closed && fault_of(ec) != fault::unknown)
            ec = errc::ownership_lost;
    }
    call.complete(ec);
    // What may have been acknowledged is of no use any more; if it was not, others get the item.
    if (state_ == state_type::held && (stopped_ || fault_of(ec) == fault::unknown))
        release(nullptr);
}

void claim_impl::release(std::unique_ptr<pending_call<>> call) {
    if (is_ending()) {
        if (call)
            call->fail(errc::busy);
        return;
    }
    if (!still_exists()) {
        if (call)
            call->complete(error_code());
        return;
    }
    state_ = state_type::releasing;
    port_.spawn(run_release(shared_from_this(), std::move(call)));
}

task<> claim_impl::run_release(std::shared_ptr<claim_impl> self,
                               std::shared_ptr<pending_call<>> call) {
    error_code ec = co_await self->node_.erase();
    const bool ended = !ec || ec == zk_errc::no_node || ec == zk_errc::node_exists ||
                       fault_of(ec) == fault::session || !self->port_.alive(self->node_.generation);
    if (ended || self->stopped_) {
        self->end(state_type::released);
    } else {
        self->state_ = state_type::held;
        self->wake_.set();
    }
    if (call)
        call->complete(ended ? error_code() : ec);
}

void claim_impl::wait_lost(std::unique_ptr<pending_call<error_code>> call) {
    call->ahead_of_copies();
    if (!still_exists()) {
        if (has_ended() && state_ != state_type::lost)
            return call->fail(boost::asio::error::operation_aborted);
        return call->complete(error_code(), has_ended() ? lost_reason_ : loss());
    }
    if (lost_call_ && lost_call_->waiting())
        return call->fail(errc::busy);
    lost_call_ = std::move(call);
    if (watching_)
        return;
    watching_ = true;
    port_.spawn(run_watch(shared_from_this()));
}

task<> claim_impl::run_watch(std::shared_ptr<claim_impl> self) {
    claim_impl& me = *self;
    const claim_node& node = me.node_;
    watch_signal changed(me.wake_);
    session_signal states(me.port_, me.wake_);
    auto wanted = [&me] { return me.lost_call_ && me.lost_call_->waiting(); };
    while (me.exists() && wanted()) {
        if (!changed.armed()) {
            request get(me.port_, op_code::get, node.path, node.generation);
            get.attach(changed);
            error_code ec = co_await get;
            // An acknowledgement in flight deletes the claim as well: its outcome decides.
            bool gone = ec == zk_errc::no_node || (!ec && !node.is(get.record));
            if (gone && me.state_ == state_type::held)
                me.end(state_type::lost);
            bool settled = gone && !me.is_ending();
            bool again = is_transient(ec, in_session);
            if (ec && !settled && !again)
                co_await me.wake_.wait();
        } else {
            co_await me.wake_.wait();
        }
    }
    forget_watch(me.port_, changed, node.path);
    me.watching_ = false;
    me.still_exists();
}

}  // namespace corozk::detail
