// SPDX-License-Identifier: Apache-2.0
// Reading the decision and, if this member is the one to do so, making it.
#include "recipe/contention/owned.hpp"
#include "recipe/partitioner/core.hpp"
#include "recipe/partitioner/member_list.hpp"
#include "recipe/toolkit/retry.hpp"

#include <cstdint>
#include <utility>

namespace corozk::detail {

task<> partitioner_impl::follow(std::shared_ptr<partitioner_impl> self) {
    partitioner_impl& me = *self;
    session_signal session(me.get_port(), me.decision_.wake());
    while (me.participation_.wanted()) {
        const error_code ec = co_await me.decision_.look();
        if (!me.participation_.wanted())
            break;
        if (ec)
            me.participation_.give_up(ec);
        me.wake_.set();
        me.decider_wake_.set();
        if (me.participation_.wanted())
            co_await me.decision_.wake().wait();
    }
    me.decision_.forget();
    me.active_.follow = false;
    me.wake_.set();
}

/// Whether this member is still the one to decide.
bool partitioner_impl::decides(const std::shared_ptr<owned>& term) const noexcept {
    return participation_.wanted() && candidacy_ && candidacy_->done() &&
           candidacy_->granted().implementation() == term;
}

/// Stands in the queue of those who may decide.
void partitioner_impl::campaign() {
    if (candidacy_ && candidacy_->done()) {
        const error_code ec = candidacy_->error();
        if (ec && !grant_request::worth_another(ec))
            participation_.give_up(ec);
        if (candidacy_->gone()) {
            candidacy_.reset();
            decider_wake_.set();
        }
    }
    if (!participation_.wanted()) {
        if (candidacy_)
            claims_.dismiss(std::move(candidacy_));
        return;
    }
    if (participation_.member() && !candidacy_ && may_ask())
        candidacy_ = locks_.make("decider", participation_.name());
    const bool granted = candidacy_ && candidacy_->done() && !candidacy_->error();
    if (granted && !std::exchange(active_.decide_shares, true))
        get_port().spawn(decide_shares(shared_from_this(), candidacy_->granted().implementation()));
}

/// @return whether it failed for good; a decision that was made meanwhile is no failure
task<error_code> partitioner_impl::write_decision(std::shared_ptr<owned> term,
                                                  const assignment& decided) {
    port& p = get_port();
    const std::uint64_t readings = decision_.readings();
    transaction step;
    step.set(path(), write_assignment(decided), decision_.version());
    std::vector<std::shared_ptr<owned>> proof{term};
    inner_call<std::vector<transaction_result>> written(p, decider_wake_);
    guarded_commit(std::move(proof), std::move(step), written.handler());
    while (!written.done())
        co_await decider_wake_.wait();
    error_code ec = written.error();
    retry attempts(p);
    if (co_await again_until_done(p, attempts, ec))
        co_return error_code();
    const bool known = !ec || ec == zk_errc::bad_version || ec == zk_errc::no_node;
    // The watch on the decision has fired, or will.
    while (known && decides(term) && decision_.readings() == readings)
        co_await decider_wake_.wait();
    if (ec == errc::ownership_lost && decides(term))
        co_await decider_wake_.wait();
    const bool harmless = known || ec == errc::ownership_lost;
    co_return harmless ? error_code() : ec;
}

task<> partitioner_impl::decide_shares(std::shared_ptr<partitioner_impl> self,
                                       std::shared_ptr<owned> term) {
    partitioner_impl& me = *self;
    port& p = me.get_port();
    signal& wake = me.decider_wake_;
    session_signal session(p, wake);
    member_list members(p, me.place("members"), wake);
    alarm settled(p, wake);
    bool settling = false;
    while (me.decides(term)) {
        error_code ec = co_await members.look();
        if (!me.decides(term))
            break;
        if (ec) {
            me.participation_.give_up(ec);
            break;
        }
        const std::vector<std::string> names = members.names();
        const assignment next = assign(me.decision_.shares(), names, me.resources_);
        if (!me.decision_.present() || names.empty() || next == me.decision_.shares()) {
            settling = false;
            settled.clear();
            co_await wake.wait();
            continue;
        }
        if (!std::exchange(settling, true))
            settled.set(time_limit(me.settle_).from(p.now()));
        if (!settled.rang() && me.settle_.count() > 0) {
            co_await wake.wait();
            continue;
        }
        settling = false;
        ec = co_await me.write_decision(term, next);
        if (ec && me.decides(term))
            me.participation_.give_up(ec);
    }
    members.forget();
    me.active_.decide_shares = false;
    me.wake_.set();
}

}  // namespace corozk::detail
