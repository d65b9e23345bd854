// SPDX-License-Identifier: Apache-2.0
#include "recipe/priority_lock/attempt.hpp"

#include "driver/ensure_path.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/contention/release_request.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/retry.hpp"
#include <corozk/transaction.hpp>

#include <algorithm>

namespace corozk::detail {

bool priority_turns::take(const std::string& parent, signal& who) {
    turn& t = turns_[parent];
    if (!t.owner)
        t.owner = &who;
    if (t.owner == &who)
        return true;
    if (std::find(t.queue.begin(), t.queue.end(), &who) == t.queue.end())
        t.queue.push_back(&who);
    return false;
}

void priority_turns::pass(const std::string& parent, signal& who) {
    auto at = turns_.find(parent);
    if (at == turns_.end())
        return;
    turn& t = at->second;
    if (t.owner != &who) {
        std::erase(t.queue, &who);
    } else if (t.queue.empty()) {
        turns_.erase(at);
    } else {
        t.owner = t.queue.front();
        t.queue.pop_front();
        t.owner->set();
    }
}

priority_attempt::priority_attempt(port& p,
                                   const contention_settings& settings,
                                   const priority_lock_options& options,
                                   const acquire_request& what,
                                   signal& wake)
    : port_(p),
      settings_(settings),
      options_(options),
      claim_(what),
      wake_(wake),
      generation_(p.status().generation),
      blocker_watch_(wake),
      own_watch_(wake),
      record_watch_(wake) {}

std::string priority_attempt::at(std::string_view name) const {
    return join_path(settings_.parent, name);
}

void priority_attempt::fail(error_code reason) noexcept {
    over_ = true;
    error_ = reason;
}

void priority_attempt::granted(std::int64_t token) {
    over_ = true;
    hold_ = std::make_shared<priority_hold>(
        port_, at(name_), at(record_of(name_)), settings_.release_request, generation_, token);
    hold_->start();
}

task<bool> priority_attempt::advance() {
    if (!port_.alive(generation_)) {
        fail(end_of_session(port_));
        co_return true;
    }
    if (lost_create_) {
        co_await find();
        co_return false;
    }
    if (name_.empty()) {
        co_await enter();
        co_return false;
    }
    auto& turns = port_.use_service<priority_turns>();
    if (!turns.take(settings_.parent, wake_))
        co_return true;
    bool settled = co_await look();
    turns.pass(settings_.parent, wake_);
    co_return settled;
}

task<> priority_attempt::enter() {
    // A new guid for each attempt, so that nodes of earlier ones are not mistaken for it.
    stem_ = format_ranked(port_.new_guid(), claim_.kind, claim_.weight);
    request create(port_, op_code::create, at(stem_), generation_);
    create.mode = create_mode::ephemeral_sequential;
    create.data = options_.identity;
    create.entries = settings_.entries;
    error_code ec = co_await create;
    retry attempt(port_, generation_);
    const bool again = attempt.again(ec);
    if (!ec) {
        name_ = std::string(base_name(create.answer));
    } else if (attempt.doubtful()) {
        lost_create_ = true;
    } else if (ec == zk_errc::no_node) {
        ec = co_await ensure_path(port_, settings_.parent, settings_.entries);
        if (ec && !retry(port_).again(ec))
            fail(ec);
    } else if (!again) {
        fail(ec);
    }
}

/// After a lost response to the create. A server that lags behind must catch up first.
task<> priority_attempt::find() {
    request listing(port_, op_code::children, settings_.parent, generation_);
    error_code ec = co_await behind_sync(port_, listing);
    if (retry(port_, generation_).again(ec))
        co_return;
    lost_create_ = false;
    for (std::size_t i = 0; !ec && i < listing.names.size(); ++i) {
        std::string_view name = listing.names[i];
        auto parsed = parse_ranked(name);
        if (parsed && !parsed->record && name.starts_with(stem_))
            name_ = std::string(name);
    }
    if (name_.empty())
        port_.use_service<background_deleter>().erase_late(settings_.parent, stem_, generation_);
    if (ec && ec != zk_errc::no_node)
        fail(ec);
}

task<bool> priority_attempt::look() {
    request record(port_, op_code::exists, at(record_of(name_)), generation_);
    request parent(port_, op_code::get, settings_.parent, generation_);
    request children(port_, op_code::children, settings_.parent, generation_);
    const bool perhaps = unanswered_;
    if (perhaps) {
        record_watch_.disarm();
        record.attach(record_watch_);
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
    auto mine = parse_ranked(name_);
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < children.names.size(); ++i)
        names.push_back(children.names[i]);
    ranked_listing listing = sort_out(names, mine ? mine->sequence : 0);
    bool settled = co_await decide(listing, parent.record.version);
    co_return settled;
}

/// Before any contender waits for another: all must use the same order.
task<> priority_attempt::write_ageing(std::int32_t version) {
    request set(port_, op_code::set, settings_.parent, generation_);
    set.data = std::to_string(options_.ageing);
    set.version = version;
    error_code ec = co_await set;
    if (ec && ec != zk_errc::bad_version && ec != zk_errc::no_node &&
        !retry(port_, generation_).again(ec))
        fail(ec);
}

task<bool> priority_attempt::decide(const ranked_listing& listing, std::int32_t version) {
    auto me = listing.find(name_);
    if (!me || !listing.waiting[*me]) {
        fail(errc::ownership_lost);
        co_return true;
    }
    if (listing.places[*me].holds) {
        unanswered_ = true;  // granted, but the token is not known yet
        co_return false;
    }
    ranked_verdict verdict = judge(listing.places, *me, options_.ageing);
    if (verdict.grant) {
        co_await ask(version);
        co_return false;
    }
    if (claim_.try_only) {
        fail(errc::would_block);
        co_return true;
    }
    if (options_.ask_holder_to_release)
        ask_holders(listing, verdict);
    bool settled = co_await wait_for(listing, verdict);
    co_return settled;
}

/// Requests the record.
task<> priority_attempt::ask(std::int32_t version) {
    transaction steps;
    steps.check(at(name_));
    steps.set(settings_.parent, std::to_string(options_.ageing), version);
    steps.create(at(record_of(name_)), options_.identity, settings_.ephemeral());
    request multi(port_, steps, generation_);
    asked_ = true;
    error_code ec = co_await multi;
    if (!ec && multi.results.size() == multi.steps.size() && multi.results[1].stat.mzxid > 0) {
        granted(multi.results[1].stat.mzxid);  // the same for all steps of a transaction
        co_return;
    }
    retry attempt(port_, generation_);
    const bool again = attempt.again(ec);
    if (!ec || attempt.doubtful() || ec == zk_errc::node_exists) {
        unanswered_ = true;
        co_return;
    }
    // Another contender was granted, or the node was deleted: read again.
    bool look_again = ec == zk_errc::bad_version || ec == zk_errc::no_node || again;
    if (!look_again)
        fail(ec);
}

void priority_attempt::ask_holders(const ranked_listing& listing, const ranked_verdict& verdict) {
    for (std::size_t i : verdict.inferior) {
        std::string holder = at(listing.blocking_node(i));
        if (!asked_holders_.insert(holder).second)
            continue;
        user_call<> nobody(port_, [](error_code) {});
        port_.spawn(ask_for_release(port_, settings_, std::move(holder), std::move(nobody)));
    }
}

/// @return whether there is nothing to do until one of the watches fires
task<bool> priority_attempt::wait_for(const ranked_listing& listing,
                                      const ranked_verdict& verdict) {
    std::string blocker = at(listing.blocking_node(*verdict.watch));
    if (!blocker_watch_.armed() || blocker_ != blocker) {
        forget_watch(port_, blocker_watch_, watch_kind::data, blocker_);
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
        std::string own = at(name_);
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
    // `exists` needs no permission.
    request look(port_, op_code::exists, path, generation_);
    look.attach(watch);
    ec = co_await look;
    if (ec == zk_errc::no_node)
        forget_watch(port_, watch, watch_kind::exists, path);
    co_return ec;
}

task<> priority_attempt::leave() {
    port_.use_service<priority_turns>().pass(settings_.parent, wake_);
    forget_watch(port_, blocker_watch_, watch_kind::data, blocker_);
    own_watch_.disarm();
    while (lost_create_ && port_.alive(generation_))
        co_await find();
    if (!name_.empty()) {
        std::string record;
        if (asked_)
            record = at(record_of(name_));
        co_await dismantle(port_, at(name_), std::move(record), generation_);
        forget_watch(port_, record_watch_, watch_kind::exists, at(record_of(name_)));
    }
}

}  // namespace corozk::detail
