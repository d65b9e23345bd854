// SPDX-License-Identifier: Apache-2.0
#include "recipe/priority_lock/attempt.hpp"

#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/contention/node_name.hpp"
#include "recipe/contention/release_request.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/renew_parent.hpp"
#include "recipe/toolkit/retry.hpp"
#include <corozk/transaction.hpp>

#include <algorithm>
#include <utility>

namespace corozk::detail {

bool priority_turns::take(const std::string& parent,
                          signal& who,
                          const ranked_name& name,
                          std::int32_t ageing) {
    auto [at, idle] = turns_.try_emplace(parent);
    turn& t = at->second;
    if (idle) {
        t.owner = &who;
        t.origin = name.sequence;
        t.ageing = ageing;
    }
    if (t.owner == &who)
        return true;
    const bool queued = std::any_of(
        t.queue.begin(), t.queue.end(), [&who](const waiter& w) { return w.who == &who; });
    if (!queued) {
        waiter w;
        w.who = &who;
        w.place.priority = name.priority;
        w.place.kind = name.kind;
        w.place.order = sequence_distance(t.origin, name.sequence);
        t.queue.push_back(w);
    }
    return false;
}

void priority_turns::pass(const std::string& parent, signal& who) {
    auto at = turns_.find(parent);
    if (at == turns_.end())
        return;
    turn& t = at->second;
    if (t.owner != &who) {
        std::erase_if(t.queue, [&who](const waiter& w) { return w.who == &who; });
    } else if (t.queue.empty()) {
        turns_.erase(at);
    } else {
        auto first = std::min_element(
            t.queue.begin(), t.queue.end(), [&t](const waiter& a, const waiter& b) {
                return comes_before(a.place, b.place, t.ageing);
            });
        t.owner = first->who;
        t.queue.erase(first);
        t.owner->set();
    }
}

void priority_turns::show(const std::string& parent, std::shared_ptr<const ranked_view> view) {
    turns_[parent].view = std::move(view);
}

std::shared_ptr<const ranked_view> priority_turns::view(const std::string& parent) const {
    return turns_.at(parent).view;
}

priority_attempt::priority_attempt(port& p,
                                   const contention_settings& settings,
                                   const priority_lock_options& options,
                                   const acquire_request& what,
                                   const interest& call,
                                   signal& wake)
    : port_(p),
      settings_(settings),
      options_(options),
      claim_(what),
      call_(call),
      wake_(wake),
      generation_(p.status().generation),
      blocker_watch_(wake),
      own_watch_(wake),
      record_(wake),
      node_(p, settings, generation_) {}

void priority_attempt::fail(error_code reason) noexcept {
    outcome_ = reason;
}

void priority_attempt::granted(std::int64_t token) {
    outcome_ = error_code();
    hold_ = std::make_shared<priority_hold>(
        port_, node_.path(), node_.record(), settings_.release_request, generation_, token);
    hold_->start();
}

task<bool> priority_attempt::advance() {
    if (!port_.alive(generation_)) {
        fail(end_of_session(port_));
        co_return true;
    }
    if (!node_.known()) {
        co_await enter();
        co_return false;
    }
    // The watches survive a reconnect, after which all attempts wake.
    if (settled_ && blocker_watch_.armed() && own_watch_.armed() &&
        (!record_.unanswered || record_.watch.armed())) {
        co_return true;
    }
    auto& turns = port_.use_service<priority_turns>();
    const ranked_name mine = parse_ranked(node_.name()).value_or(ranked_name());
    if (!turns.take(settings_.parent, wake_, mine, options_.ageing))
        co_return true;
    std::shared_ptr<const ranked_view> seen;
    if (!std::exchange(looked_, true))
        seen = turns.view(settings_.parent);
    if (seen && seen->ageing == options_.ageing && seen->listing.find(node_.name()))
        settled_ = co_await decide(*seen);
    else
        settled_ = co_await look();
    turns.pass(settings_.parent, wake_);
    co_return settled_;
}

task<> priority_attempt::enter() {
    error_code ec = co_await node_.make(claim_, options_.identity, call_);
    if (!ec && node_.spent())
        ec = errc::sequence_exhausted;
    if (ec)
        fail(ec);
}

task<bool> priority_attempt::look() {
    request record(port_, op_code::exists, node_.record(), generation_);
    request parent(port_, op_code::get, settings_.parent, generation_);
    request children(port_, op_code::children, settings_.parent, generation_);
    const bool perhaps = record_.unanswered;
    if (perhaps) {
        record_.watch.disarm();
        record.attach(record_.watch);
        record.send();
    }
    // In this order: the listing that justifies a grant must be newer than the parent's version.
    parent.send();
    children.send();
    error_code record_ec = zk_errc::no_node;
    if (perhaps)
        record_ec = co_await record;
    error_code parent_ec = co_await parent;
    error_code ec = co_await children;
    // They may have been answered only after an outage: nothing is done for a call that is over.
    if (!call_.waiting())
        co_return true;
    if (!record_ec && record.record.ephemeral_owner == port_.status().session_id) {
        granted(record.record.czxid);
        co_return true;
    }
    if (!ec)
        ec = parent_ec;
    if (!ec && record_ec != zk_errc::no_node)
        ec = record_ec;
    if (retry(port_, generation_).again(ec))
        co_return false;
    if (ec) {
        fail(ec == zk_errc::no_node ? make_error_code(errc::ownership_lost) : ec);
        co_return true;
    }
    if (parent.answer.empty()) {
        co_await write_ageing(parent.record.version);
        co_return false;
    }
    auto ageing = parse_ageing(parent.answer);
    if (!ageing || *ageing != options_.ageing) {
        fail(ageing ? errc::limit_mismatch : errc::foreign_data);
        co_return true;
    }
    if (parent.record.version == any_version) {
        // It would not be compared by the grant. The next one is 0.
        co_await write_ageing(parent.record.version);
        co_return false;
    }
    auto mine = parse_ranked(node_.name());
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < children.names.size(); ++i)
        names.push_back(children.names[i]);
    auto seen = std::make_shared<ranked_view>();
    seen->listing = sort_out(names, mine ? mine->sequence : 0);
    seen->version = parent.record.version;
    seen->ageing = *ageing;
    port_.use_service<priority_turns>().show(settings_.parent, seen);
    co_return co_await decide(*seen);
}

/// Before any contender waits for another: all must use the same order.
task<> priority_attempt::write_ageing(std::int32_t version) {
    request set(port_, op_code::set, settings_.parent, generation_);
    set.only_for(&call_);
    set.data = std::to_string(options_.ageing);
    set.version = version;
    error_code ec = co_await set;
    if (ec && ec != zk_errc::bad_version && ec != zk_errc::no_node &&
        !retry(port_, generation_).again(ec))
        fail(ec);
}

task<bool> priority_attempt::decide(const ranked_view& seen) {
    auto& turns = port_.use_service<priority_turns>();
    const ranked_listing& listing = seen.listing;
    auto me = listing.find(node_.name());
    if (!me || !listing.waiting[*me]) {
        fail(errc::ownership_lost);
        co_return true;
    }
    if (listing.places[*me].holds) {
        // Granted, but the token is not known yet; or a node of others is in the record's place,
        // whose deletion is waited for.
        const bool of_others = record_.unanswered && record_.watch.armed();
        record_.unanswered = true;
        co_return of_others;
    }
    ranked_verdict verdict = judge(listing.places, *me, options_.ageing);
    if (verdict.grant) {
        turns.show(settings_.parent, nullptr);
        co_await ask(seen.version);
        co_return false;
    }
    if (claim_.try_only) {
        fail(errc::would_block);
        co_return true;
    }
    if (options_.ask_holder_to_release)
        ask_holders(listing, verdict);
    turns.pass(settings_.parent, wake_);
    co_return co_await wait_for(listing, verdict);
}

/// Requests the record.
task<> priority_attempt::ask(std::int32_t version) {
    transaction steps;
    steps.check(node_.path());
    steps.set(settings_.parent, std::to_string(options_.ageing), version);
    steps.create(node_.record(), options_.identity, settings_.ephemeral());
    request multi(port_, steps, generation_);
    multi.only_for(&call_);
    record_.asked = true;
    error_code ec = co_await multi;
    if (!ec && multi.results.size() == multi.steps.size() && multi.results[1].stat.mzxid > 0) {
        granted(multi.results[1].stat.mzxid);  // the same for all steps of a transaction
        co_return;
    }
    retry attempt(port_, generation_);
    const bool again = attempt.again(ec);
    if (!ec || attempt.doubtful() || ec == zk_errc::node_exists) {
        record_.unanswered = true;
        co_return;
    }
    // Another contender was granted, or the node was deleted: read again.
    bool look_again = ec == zk_errc::bad_version || ec == zk_errc::no_node || again;
    if (!look_again)
        fail(ec);
}

void priority_attempt::ask_holders(const ranked_listing& listing, const ranked_verdict& verdict) {
    for (std::size_t i : verdict.inferior) {
        std::string holder = node_.at(listing.blocking_node(i));
        if (!asked_holders_.insert(holder).second)
            continue;
        user_call<> nobody(port_, [](error_code) {});
        port_.spawn(ask_for_release(port_, settings_, std::move(holder), true, std::move(nobody)));
    }
}

/// @return whether there is nothing to do until one of the watches fires
task<bool> priority_attempt::wait_for(const ranked_listing& listing,
                                      const ranked_verdict& verdict) {
    std::string blocker = node_.at(listing.blocking_node(*verdict.watch));
    if (!blocker_watch_.armed() || blocker_ != blocker) {
        forget_watch(port_, blocker_watch_, blocker_);
        blocker_ = std::move(blocker);
        error_code ec = co_await observe(blocker_, blocker_watch_);
        if (ec == zk_errc::no_node || retry(port_, generation_).again(ec))
            co_return false;
        if (ec) {
            fail(ec);
            co_return true;
        }
    }
    if (!own_watch_.armed()) {
        std::string own = node_.path();
        error_code ec = co_await observe(own, own_watch_);
        if (retry(port_, generation_).again(ec))
            co_return false;
        if (ec)
            fail(ec == zk_errc::no_node ? make_error_code(errc::ownership_lost) : ec);
    }
    co_return true;
}

/// Watches a node if it exists.
task<error_code> priority_attempt::observe(const std::string& path, watch_node& watch) {
    request read(port_, op_code::get, path, generation_);
    read.attach(watch);
    error_code ec = co_await read;
    if (ec != zk_errc::no_auth)
        co_return ec;
    // `exists` needs no permission before ZooKeeper 3.9.3.
    request look(port_, op_code::exists, path, generation_);
    look.attach(watch);
    ec = co_await look;
    if (ec == zk_errc::no_node)
        forget_watch(port_, watch, path);
    co_return ec;
}

task<> priority_attempt::leave() {
    port_.use_service<priority_turns>().pass(settings_.parent, wake_);
    forget_watch(port_, blocker_watch_, blocker_);
    own_watch_.disarm();
    co_await node_.find_out();
    if (node_.known()) {
        std::string record;
        if (record_.asked)
            record = node_.record();
        co_await dismantle(port_, node_.path(), std::move(record), generation_);
        forget_watch(port_, record_.watch, node_.record());
        if (node_.spent())
            port_.spawn(try_renew_parent(port_, settings_.parent));
    }
}

}  // namespace corozk::detail
