// SPDX-License-Identifier: Apache-2.0
// What a consumer does with an item that it has claimed.
#include "recipe/queue/claim.hpp"

#include "operation/path.hpp"
#include "recipe/queue/consumer.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/retry.hpp"
#include "recipe/toolkit/synced_read.hpp"

namespace corozk::detail {

claim_impl::claim_impl(port& p,
                       std::shared_ptr<queue_consumer> consumer,
                       queue_item item,
                       std::uint64_t generation,
                       const stat& record)
    : port_(p),
      wake_(p),
      consumer_(std::move(consumer)),
      item_(std::move(item)),
      item_path_(consumer_->settings().item_path(item_.name)),
      claim_path_(join_path(item_path_, "claim")),
      generation_(generation),
      token_(record.czxid),
      version_(record.version) {}

bool claim_impl::exists() const noexcept {
    return state_ <= state_type::releasing && port_.alive(generation_);
}

void claim_impl::end(state_type state) {
    if (has_ended())
        return;
    state_ = state;
    error_code ec;
    if (state != state_type::lost)
        ec = boost::asio::error::operation_aborted;
    for (auto& call : lost_calls_) {
        if (call->waiting())
            call->complete(ec);
    }
    wake_.set();
    consumer_->claim_ended(item_.name, state == state_type::acknowledged);
}

void claim_impl::stop() {
    stopped_ = true;
    for (auto& call : lost_calls_) {
        if (call->waiting())
            call->fail(boost::asio::error::operation_aborted);
    }
    wake_.set();
    if (state_ == state_type::held)
        release(nullptr);
}

void claim_impl::acknowledge(transaction extra, std::unique_ptr<pending_call<>> call) {
    if (is_ending())
        return call->fail(errc::busy);
    if (!exists()) {
        bool closed = port_.status().state == session_state::closed;
        if (state_ == state_type::held && !closed)
            end(state_type::lost);
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
            me.end(state_type::acknowledged);
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
        if (me.stopped_)
            me.release(nullptr);
        co_return;
    }
}

namespace {

/// Reads an item and its claim, behind a sync: a server may lag behind the one that got the
/// acknowledgement.
struct claim_state {
    claim_state(port& p, const std::string& claim_path, const std::string& item_path)
        : sync(p, op_code::sync, item_path),
          claim(p, op_code::get, claim_path),
          item(p, op_code::exists, item_path) {}

    task<> read() {
        sync.send();
        claim.send();
        item.send();
        co_await sync;
        co_await claim;
        co_await item;
    }

    request sync;
    request claim;
    request item;
};

}  // namespace

/// The response to the acknowledgement was lost.
task<claim_impl::verdict> claim_impl::find_out() {
    do {
        claim_state now(port_, claim_path_, item_path_);
        now.sync.generation = now.claim.generation = now.item.generation = generation_;
        co_await now.read();
        if (now.sync.error && port_.alive(generation_))
            continue;
        if (!now.claim.error)
            co_return is_ours(now.claim) ? verdict::not_applied : verdict::ended;
        if (now.claim.error == zk_errc::no_node && now.item.error == zk_errc::no_node)
            co_return verdict::applied;
        if (now.claim.error == zk_errc::no_node && !now.item.error)
            co_return verdict::ended;
    } while (port_.alive(generation_));
    // The session is lost. If the item is still there when the claim is not ours any more, it was
    // not applied, and never will be. If it is gone, the next consumer may have acknowledged it.
    watch_signal changed(wake_);
    session_signal states(port_, wake_);
    for (;;) {
        claim_state now(port_, claim_path_, item_path_);
        changed.disarm();  // of the last read, which ended for another reason
        now.claim.attach(changed);
        co_await now.read();
        error_code ec = now.claim.error;
        if (worth_another_try(now.sync.error) || worth_another_try(ec) ||
            worth_another_try(now.item.error))
            continue;
        if (now.item.error || (ec && ec != zk_errc::no_node))
            co_return verdict::unknown;
        if (ec || !is_ours(now.claim)) {
            forget_watch(port_, changed, watch_kind::data, claim_path_);
            co_return verdict::ended;
        }
        co_await wake_.wait();
        if (stopped_)
            co_return verdict::unknown;
    }
}

void claim_impl::release(std::unique_ptr<pending_call<>> call) {
    if (is_ending()) {
        if (call)
            call->fail(errc::busy);
        return;
    }
    if (!exists()) {
        if (state_ == state_type::held)
            end(state_type::lost);
        if (call)
            call->complete(error_code());
        return;
    }
    state_ = state_type::releasing;
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
    me.end(state_type::released);
    if (call)
        call->complete(ec);
}

void claim_impl::wait_lost(std::unique_ptr<pending_call<>> call) {
    call->ahead_of_copies();
    if (!exists()) {
        if (state_ == state_type::held)
            end(state_type::lost);
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
    watch_signal changed(me.wake_);
    session_signal states(me.port_, me.wake_);
    auto wanted = [&me] {
        for (auto& call : me.lost_calls_) {
            if (call->waiting())
                return true;
        }
        return false;
    };
    while (me.exists() && wanted()) {
        if (!changed.armed()) {
            request get(me.port_, op_code::get, me.claim_path_);
            get.attach(changed);
            get.generation = me.generation_;
            error_code ec = co_await get;
            // An acknowledgement in flight deletes the claim as well: its outcome decides.
            bool gone = ec == zk_errc::no_node || (!ec && !me.is_ours(get));
            if (gone && me.state_ == state_type::held)
                me.end(state_type::lost);
            bool settled = gone && !me.is_ending();
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
