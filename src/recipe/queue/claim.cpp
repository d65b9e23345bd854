// SPDX-License-Identifier: Apache-2.0
// Acknowledging, releasing and losing a claim.
#include "recipe/queue/claim.hpp"

#include "recipe/queue/consumer.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/retry.hpp"

#include <algorithm>

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

void claim_impl::complete_lost_calls(error_code ec) {
    for (auto& call : lost_calls_)
        call->complete(ec);
}

void claim_impl::end(state_type state) {
    if (has_ended())
        return;
    state_ = state;
    error_code ec;
    if (state != state_type::lost)
        ec = boost::asio::error::operation_aborted;
    complete_lost_calls(ec);
    wake_.set();
    consumer_->claim_ended(item_.name, state == state_type::acknowledged);
}

void claim_impl::stop() {
    stopped_ = true;
    complete_lost_calls(boost::asio::error::operation_aborted);
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
    port_.spawn(run_acknowledge(shared_from_this(), std::move(extra), std::move(call)));
}

task<> claim_impl::run_acknowledge(std::shared_ptr<claim_impl> self,
                                   transaction extra,
                                   std::shared_ptr<pending_call<>> call) {
    claim_impl& me = *self;
    transaction all;
    all.erase(me.node_.path, me.node_.record.version).erase(me.item_path_).append(extra);
    bool doubtful = false;  // an attempt may have been applied
    for (;;) {
        request multi(me.port_, all, me.node_.generation);
        error_code ec = co_await multi;
        std::size_t failed = 0;
        while (failed < multi.results.size() && multi.results[failed].error != ec)
            ++failed;
        const bool another = ec == zk_errc::bad_version && failed == 0;
        const bool gone = another || (ec == zk_errc::no_node && failed < 2);
        const bool unknown = is_outcome_unknown(ec) || (gone && doubtful);
        if (unknown) {
            doubtful = true;
            ec = co_await me.find_out();
        }
        if (ec == boost::asio::error::try_again ||
            (is_transient(ec, in_session_while_reachable) && !unknown))
            continue;
        if (!ec) {
            me.end(state_type::acknowledged);
        } else if (gone || unknown || (is_session_lost(ec) && ec != errc::closed)) {
            me.end(state_type::lost);
            if (ec != zk_errc::connection_loss)
                ec = errc::ownership_lost;
        } else {
            me.state_ = state_type::held;
        }
        call->complete(ec);
        if (me.stopped_ && me.state_ == state_type::held)
            me.release(nullptr);
        co_return;
    }
}

/// After a lost response to the acknowledgement.
/// @return no error: applied; `try_again`: not applied; `ownership_lost`: never will be;
///         `connection_loss`: unknown
task<error_code> claim_impl::find_out() {
    watch_signal changed(wake_);
    session_signal states(port_, wake_);
    for (;;) {
        // After a sync: the server may lag behind the one that got the acknowledgement.
        request sync(port_, op_code::sync, item_path_);
        request claim(port_, op_code::get, node_.path);
        request item(port_, op_code::exists, item_path_);
        const bool alive = port_.alive(node_.generation);
        if (alive) {
            sync.generation = claim.generation = item.generation = node_.generation;
        } else {
            changed.disarm();  // of the last read
            claim.attach(changed);
        }
        sync.send();
        claim.send();
        item.send();
        error_code ec = co_await sync;
        error_code claim_ec = co_await claim;
        error_code item_ec = co_await item;
        if (is_transient(ec) || is_transient(claim_ec) || is_transient(item_ec))
            continue;
        const bool ours = !claim_ec && node_.is(claim.record);
        if (alive && ours)
            co_return error_code(boost::asio::error::try_again);
        if (alive && claim_ec == zk_errc::no_node && item_ec == zk_errc::no_node)
            co_return error_code();
        // If the item exists although the claim does not, the acknowledgement was not and never
        // will be applied. If it does not exist after session loss, the next consumer may have
        // acknowledged it.
        if (item_ec || (claim_ec && claim_ec != zk_errc::no_node))
            co_return make_error_code(zk_errc::connection_loss);
        if (!ours) {
            if (!alive)
                forget_watch(port_, changed, watch_kind::data, node_.path);
            co_return make_error_code(errc::ownership_lost);
        }
        co_await wake_.wait();
        if (stopped_)
            co_return make_error_code(zk_errc::connection_loss);
    }
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
    const bool ended = ec == zk_errc::no_node || ec == zk_errc::node_exists ||
                       (is_session_lost(ec) && ec != errc::closed) ||
                       !self->port_.alive(self->node_.generation);
    self->end(state_type::released);
    if (call)
        call->complete(ended ? error_code() : ec);
}

void claim_impl::wait_lost(std::unique_ptr<pending_call<>> call) {
    call->ahead_of_copies();
    if (!still_exists()) {
        if (has_ended() && state_ != state_type::lost)
            return call->fail(boost::asio::error::operation_aborted);
        return call->complete(error_code());
    }
    std::erase_if(lost_calls_, [](const auto& c) { return !c->waiting(); });
    lost_calls_.push_back(std::move(call));
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
    auto wanted = [&me] {
        return std::any_of(me.lost_calls_.begin(), me.lost_calls_.end(), [](const auto& call) {
            return call->waiting();
        });
    };
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
    forget_watch(me.port_, changed, watch_kind::data, node.path);
    me.watching_ = false;
    me.still_exists();
}

}  // namespace corozk::detail
