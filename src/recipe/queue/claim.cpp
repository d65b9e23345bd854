// SPDX-License-Identifier: Apache-2.0
// What a consumer does with an item that it has claimed.
#include "operation/path.hpp"
#include "recipe/queue/queue_impl.hpp"
#include "recipe/toolkit/retry.hpp"
#include "recipe/toolkit/synced_read.hpp"

namespace corozk::detail {

claim_impl::claim_impl(port& p,
                       std::shared_ptr<queue_impl> queue,
                       queue_item item,
                       std::uint64_t generation,
                       const stat& record)
    : port_(p),
      wake_(p),
      queue_(std::move(queue)),
      item_(std::move(item)),
      item_path_(join_path(queue_->path(), item_.name)),
      claim_path_(join_path(item_path_, "claim")),
      generation_(generation),
      token_(record.czxid),
      version_(record.version) {}

bool claim_impl::valid() const noexcept {
    bool ours = state_ == state_type::held || state_ == state_type::ending;
    return ours && port_.alive(generation_);
}

void claim_impl::end(state_type state) {
    if (state_ == state_type::lost || state_ == state_type::done)
        return;
    state_ = state;
    error_code ec;
    if (state == state_type::done)
        ec = boost::asio::error::operation_aborted;
    for (auto& call : lost_calls_) {
        if (call->waiting())
            call->complete(ec);
    }
    wake_.set();
    queue_->claim_ended(item_.name, acknowledged_);
}

void claim_impl::stop() {
    abandoned_ = true;
    for (auto& call : lost_calls_) {
        if (call->waiting())
            call->fail(boost::asio::error::operation_aborted);
    }
    wake_.set();
    if (state_ == state_type::held)
        release(nullptr);
}

void claim_impl::acknowledge(transaction extra, std::unique_ptr<pending_call<>> call) {
    if (state_ == state_type::ending)
        return call->fail(errc::busy);
    if (!valid()) {
        bool closed = port_.status().state == session_state::closed;
        if (state_ == state_type::held && !closed)
            end(state_type::lost);
        return call->fail(closed ? errc::closed : errc::ownership_lost);
    }
    state_ = state_type::ending;
    port_.spawn(run_acknowledge(shared_from_this(), std::move(extra), std::move(call)));
}

task<> claim_impl::run_acknowledge(std::shared_ptr<claim_impl> self,
                                   transaction extra,
                                   std::shared_ptr<pending_call<>> call) {
    claim_impl& me = *self;
    transaction all;
    all.erase(me.claim_path_, me.version_).erase(me.item_path_).append(extra);
    bool doubtful = false;  // an attempt may have been applied
    for (;;) {
        request multi(me.port_, op_code::multi, std::string());
        multi.steps = all.steps();
        multi.generation = me.generation_;
        error_code ec = co_await multi;
        std::size_t failed = 0;
        while (failed < multi.results.size() && multi.results[failed].error != ec)
            ++failed;
        bool another = ec == zk_errc::bad_version && failed == 0;
        bool gone = another || (ec == zk_errc::no_node && failed < 2);
        if (is_outcome_unknown(ec) || (gone && doubtful)) {
            doubtful = true;
            switch (co_await me.find_out()) {
                case verdict::applied:
                    ec = error_code();
                    break;
                case verdict::not_applied:
                    continue;
                case verdict::ended:
                    ec = errc::ownership_lost;
                    break;
                case verdict::unknown:
                    me.end(state_type::lost);
                    call->fail(zk_errc::connection_loss);
                    co_return;
            }
        } else if (is_recoverable(ec)) {
            continue;
        }
        if (!ec) {
            me.acknowledged_ = true;
            me.end(state_type::done);
            call->complete(ec);
            co_return;
        }
        if (gone || ec == errc::ownership_lost || (is_session_lost(ec) && ec != errc::closed)) {
            me.end(state_type::lost);
            call->fail(errc::ownership_lost);
            co_return;
        }
        me.state_ = state_type::held;
        call->fail(ec);
        if (me.abandoned_)
            me.release(nullptr);
        co_return;
    }
}

/// The answer to the acknowledgement was lost.
task<claim_impl::verdict> claim_impl::find_out() {
    for (;;) {
        // The new server may lag behind the one that got the acknowledgement.
        request sync(port_, op_code::sync, item_path_);
        request claim(port_, op_code::get, claim_path_);
        request item(port_, op_code::exists, item_path_);
        sync.generation = claim.generation = item.generation = generation_;
        sync.send();
        claim.send();
        item.send();
        error_code sync_ec = co_await sync;
        error_code ec = co_await claim;
        error_code item_ec = co_await item;
        if (sync_ec && port_.alive(generation_))
            continue;
        if (!ec)
            co_return is_ours(claim) ? verdict::not_applied : verdict::ended;
        if (ec == zk_errc::no_node && item_ec == zk_errc::no_node)
            co_return verdict::applied;
        if (ec == zk_errc::no_node && !item_ec)
            co_return verdict::ended;
        if (!port_.alive(generation_))
            break;
    }
    // The session is lost. If the item is still there when the claim is not ours any more, it was
    // not applied, and never will be. If it is gone, the next consumer may have done that.
    watch_signal changed(wake_);
    session_signal states(port_, wake_);
    for (;;) {
        request sync(port_, op_code::sync, item_path_);
        request claim(port_, op_code::get, claim_path_);
        request item(port_, op_code::exists, item_path_);
        changed.disarm();  // of the last look, which another cause has ended
        claim.attach(changed);
        sync.send();
        claim.send();
        item.send();
        error_code sync_ec = co_await sync;
        error_code ec = co_await claim;
        error_code item_ec = co_await item;
        if (worth_another_try(sync_ec) || worth_another_try(ec) || worth_another_try(item_ec)) {
            continue;
        }
        bool ours = !ec && is_ours(claim);
        if (item_ec || (ec && ec != zk_errc::no_node))
            co_return verdict::unknown;
        if (!ours) {
            forget_watch(port_, changed, watch_kind::data, claim_path_);
            co_return verdict::ended;
        }
        co_await wake_.wait();
        if (abandoned_)
            co_return verdict::unknown;
    }
}

void claim_impl::release(std::unique_ptr<pending_call<>> call) {
    if (state_ == state_type::ending) {
        if (call)
            call->fail(errc::busy);
        return;
    }
    if (!valid()) {
        if (state_ == state_type::held)
            end(state_type::lost);
        if (call)
            call->complete(error_code());
        return;
    }
    state_ = state_type::ending;
    given_back_ = true;
    port_.spawn(run_release(shared_from_this(), std::move(call)));
}

task<> claim_impl::run_release(std::shared_ptr<claim_impl> self,
                               std::shared_ptr<pending_call<>> call) {
    claim_impl& me = *self;
    bool certain = true;
    error_code ec;
    for (;;) {
        if (!certain) {
            // A server that lags behind would show ours where there is the next one's.
            request get(me.port_, op_code::get, me.claim_path_);
            get.generation = me.generation_;
            ec = co_await behind_sync(me.port_, get);
            if (!ec && !me.is_ours(get))
                break;
            me.version_ = get.record.version;
        }
        if (certain || !ec) {
            request erase(me.port_, op_code::erase, me.claim_path_);
            erase.version = me.version_;
            erase.generation = me.generation_;
            ec = co_await erase;
        }
        certain = false;
        bool again = ask_again(me.port_, me.generation_, ec) || ec == zk_errc::bad_version;
        if (!again)
            break;
    }
    if (ec == zk_errc::no_node || (is_session_lost(ec) && ec != errc::closed) ||
        !me.port_.alive(me.generation_)) {
        ec = error_code();
    }
    me.end(state_type::done);
    if (call)
        call->complete(ec);
}

void claim_impl::lost(std::unique_ptr<pending_call<>> call) {
    call->ahead_of_copies();
    if (!valid()) {
        if (state_ == state_type::held)
            end(state_type::lost);
        bool ended = state_ == state_type::done;
        return call->complete(ended ? make_error_code(boost::asio::error::operation_aborted)
                                    : error_code());
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
    watch_signal changed(me.wake_);
    session_signal states(me.port_, me.wake_);
    auto wanted = [&me] {
        for (auto& call : me.lost_calls_) {
            if (call->waiting())
                return true;
        }
        return false;
    };
    while (me.valid() && wanted()) {
        if (!changed.armed()) {
            request get(me.port_, op_code::get, me.claim_path_);
            get.attach(changed);
            get.generation = me.generation_;
            error_code ec = co_await get;
            // An acknowledgement on its way takes the claim away, too: it decides.
            bool gone = ec == zk_errc::no_node || (!ec && !me.is_ours(get));
            if (gone && me.state_ == state_type::held)
                me.end(state_type::lost);
            bool settled = gone && me.state_ != state_type::ending;
            bool again = is_recoverable(ec) || ec == errc::not_connected;
            if (ec && !settled && !again)
                co_await me.wake_.wait();
        } else {
            co_await me.wake_.wait();
        }
    }
    forget_watch(me.port_, changed, watch_kind::data, me.claim_path_);
    me.watching_ = false;
    if (me.state_ == state_type::held && !me.port_.alive(me.generation_)) {
        me.end(state_type::lost);
    }
}

}  // namespace corozk::detail
