// SPDX-License-Identifier: Apache-2.0
// Reading the decision and, if this member is the one to do so, making it.
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/contention/owned.hpp"
#include "recipe/partitioner/core.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/retry.hpp"

#include <cstddef>
#include <deque>
#include <utility>

namespace corozk::detail {

void partitioner_impl::note_decision() {
    const node_view& view = decision_node_.view();
    std::optional<assignment> decided = read_assignment(view.data);
    if (!decided)
        return give_up(errc::foreign_data);
    decision_ = std::move(*decided);
    known_ = view.present;
    version_ = view.stat.version;
    ++readings_;
}

task<> partitioner_impl::follow(std::shared_ptr<partitioner_impl> self) {
    partitioner_impl& me = *self;
    session_signal session(me.get_port(), me.decision_node_.wake);
    while (me.wanted_) {
        error_code ec = co_await me.decision_node_.look();
        if (!me.wanted_)
            break;
        if (ec)
            me.give_up(ec);
        else
            me.note_decision();
        me.wake_.set();
        me.decider_wake_.set();
        if (me.wanted_)
            co_await me.decision_node_.wake.wait();
    }
    me.decision_node_.forget();
    me.known_ = false;
    me.decision_.clear();
    me.following_ = false;
    me.wake_.set();
}

/// Whether this member is still the one to decide.
bool partitioner_impl::decides(const std::shared_ptr<owned>& term) const noexcept {
    return wanted_ && candidacy_ && candidacy_->done() &&
           candidacy_->granted().implementation() == term;
}

/// Stands in the queue of those who may decide.
void partitioner_impl::campaign() {
    port& p = get_port();
    if (candidacy_ && candidacy_->done()) {
        const error_code ec = candidacy_->error();
        if (ec && wanted_ && !worth_another(ec))
            give_up(ec);
        if (candidacy_->gone()) {
            candidacy_.reset();
            decider_wake_.set();
        }
    }
    if (!wanted_) {
        if (!candidacy_)
            return;
        dismiss(std::move(candidacy_));
        decider_wake_.set();
        return;
    }
    if (member_ && !candidacy_ && may_ask())
        candidacy_ = ask(decider_);
    const bool granted = candidacy_ && candidacy_->done() && !candidacy_->error();
    if (granted && !std::exchange(deciding_, true))
        p.spawn(decide_shares(shared_from_this(), candidacy_->granted().implementation()));
}

/// Looks at nodes that were not there before: only ephemeral ones are members.
task<error_code> partitioner_impl::identify(const name_list& names) {
    port& p = get_port();
    std::map<std::string, bool> nodes;
    std::deque<request> looks;
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::string name(names[i]);
        auto known = nodes_.find(name);
        if (known != nodes_.end()) {
            nodes.insert(*known);
            continue;
        }
        looks.emplace_back(p, op_code::exists, join_path(place("members"), name));
        looks.back().send();
    }
    error_code result;
    for (request& look : looks) {
        error_code ec = co_await look;
        if (!ec)
            nodes.emplace(base_name(look.path), session_of(look.record) != 0);
        else if (ec != zk_errc::no_node)
            result = ec;
    }
    if (!result)
        nodes_ = std::move(nodes);
    co_return result;
}

/// Lists the members, unless a watch shows that they are known.
/// @return a permanent error
task<error_code> partitioner_impl::read_members(watch_signal& watch, watch_signal& missing) {
    port& p = get_port();
    const std::string parent = place("members");
    while (!watch.armed() && !missing.armed()) {
        request listing(p, op_code::children, parent);
        listing.attach(watch);
        error_code ec = co_await read_forward(p, listing);
        if (!ec) {
            ec = co_await identify(listing.names);
            if (!ec)
                co_return ec;
        }
        watch.disarm();
        if (ec == zk_errc::no_node) {
            // Deleted by another client: ours will be created again.
            nodes_.clear();
            request exists(p, op_code::exists, parent);
            exists.attach(missing);
            ec = co_await read_forward(p, exists);
            if (ec == zk_errc::no_node)
                co_return error_code();
            forget_watch(p, missing, watch_kind::data, parent);
        }
        if (ec && !retry(p).again(ec))
            co_return ec;
    }
    co_return error_code();
}

/// @return whether it failed for good; a decision that was made meanwhile is no failure
task<error_code> partitioner_impl::write_decision(std::shared_ptr<owned> term,
                                                  const assignment& decided) {
    port& p = get_port();
    const std::uint64_t readings = readings_;
    transaction step;
    step.set(path(), write_assignment(decided), version_);
    std::vector<std::shared_ptr<owned>> proof{term};
    inner_call<std::vector<transaction_result>> written(p, decider_wake_);
    user_call<std::vector<transaction_result>> call(p, written.handler());
    p.spawn(guarded_commit(p, std::move(proof), std::move(step), std::move(call)));
    while (!written.done())
        co_await decider_wake_.wait();
    error_code ec = written.error();
    if (retry(p).again(ec))
        co_return error_code();
    const bool known = !ec || ec == zk_errc::bad_version || ec == zk_errc::no_node;
    // The watch on the decision has fired, or will.
    while (known && decides(term) && readings_ == readings)
        co_await decider_wake_.wait();
    if (ec == errc::ownership_lost && decides(term))
        co_await decider_wake_.wait();
    const bool harmless = known || ec == errc::ownership_lost || ec == zk_errc::not_read_only;
    co_return harmless ? error_code() : ec;
}

task<> partitioner_impl::decide_shares(std::shared_ptr<partitioner_impl> self,
                                       std::shared_ptr<owned> term) {
    partitioner_impl& me = *self;
    port& p = me.get_port();
    signal& wake = me.decider_wake_;
    session_signal session(p, wake);
    watch_signal watch(wake);
    watch_signal missing(wake);
    alarm settled(p, wake);
    bool settling = false;
    while (me.decides(term)) {
        error_code ec = co_await me.read_members(watch, missing);
        if (!me.decides(term))
            break;
        if (ec) {
            me.give_up(ec);
            break;
        }
        std::vector<std::string> members;
        for (const auto& [name, member] : me.nodes_) {
            if (member)
                members.push_back(name);
        }
        const assignment next = assign(me.decision_, members, me.resources_);
        if (!me.known_ || members.empty() || next == me.decision_) {
            settling = false;
            settled.clear();
            co_await wake.wait();
            continue;
        }
        if (!std::exchange(settling, true))
            settled.set(time_limit(me.options_.settle_time).from(p.now()));
        if (!settled.rang() && me.options_.settle_time.count() > 0) {
            co_await wake.wait();
            continue;
        }
        settling = false;
        ec = co_await me.write_decision(term, next);
        if (ec && me.decides(term))
            me.give_up(ec);
    }
    me.nodes_.clear();
    const std::string parent = me.place("members");
    forget_watch(p, watch, watch_kind::children, parent);
    forget_watch(p, missing, watch_kind::exists, parent);
    me.deciding_ = false;
    me.wake_.set();
}

}  // namespace corozk::detail
