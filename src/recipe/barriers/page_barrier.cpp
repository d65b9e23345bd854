// SPDX-License-Identifier: Apache-2.0
#include "recipe/barriers/page_barrier.hpp"

#include "driver/ensure_path.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/retry.hpp"

#include <utility>

namespace corozk::detail {

page_member::page_member(port& p, settings where)
    : port_(p),
      where_(std::move(where)),
      name_(p.new_guid()),
      node_(join_path(where_.path, name_)),
      ready_(join_path(where_.path, barrier_ready)),
      wake_(p),
      ready_watch_(wake_),
      member_watch_(wake_) {}

void page_member::follow(const std::shared_ptr<page_member>& previous) {
    if (!previous || previous->ended_)
        return;
    previous->next_ = weak_from_this();
    previous_ = previous;
}

void page_member::enter(recipe_core& core,
                        any_handler<void(error_code)> handler,
                        time_point deadline) {
    call_ = std::make_unique<waiting_call<>>(core, std::move(handler), wake_, deadline);
    port_.spawn(run_enter(shared_from_this()));
}

void page_member::leave(recipe_core& core,
                        any_handler<void(error_code)> handler,
                        time_point deadline) {
    call_ = std::make_unique<waiting_call<>>(core, std::move(handler), wake_, deadline);
    phase_ = phase::leaving;
    port_.spawn(run_leave(shared_from_this()));
}

void page_member::withdraw() {
    port_.spawn(run_withdraw(shared_from_this()));
}

task<> page_member::run_withdraw(std::shared_ptr<page_member> self) {
    co_await self->go_away();
}

/// Deletes what is left of it.
task<> page_member::go_away() {
    phase_ = phase::outside;
    const std::uint64_t generation = generation_ != 0 ? generation_ : perhaps_in_;
    if (!gone_ && port_.alive(generation)) {
        // As in `go_out`: it would let the next one in alone.
        if (admitted_ && !ready_gone_)
            co_await delete_or_report(port_, ready_, generation);
        co_await delete_or_report(port_, node_, generation);
        if (perhaps_in_ == generation)
            port_.use_service<background_deleter>().erase_late(where_.path, name_, generation);
        if (may_have_started_ && !admitted_) {
            // Those who are inside delete `ready`, but all others may have given up, too.
            tidied_ = false;
            retry attempts(port_, generation);
            error_code ec;
            do {
                ec = co_await tidy();
            } while (attempts.again(ec));
        }
    }
    ended_ = true;
    if (auto next = next_.lock())
        next->wake_.set();
}

task<> page_member::run_enter(std::shared_ptr<page_member> self) {
    page_member& me = *self;
    port& p = me.port_;
    while (me.previous_ && !me.previous_->ended_)
        co_await me.wake_.wait();
    me.previous_.reset();
    session_signal session(p, me.wake_);
    while (!me.call_->over()) {
        if (!p.alive(p.status().generation)) {
            co_await me.wake_.wait();
            continue;
        }
        bool again = false;
        error_code ec = co_await me.come_in(again);
        if (retry(p).again(ec) || (!ec && again))
            continue;
        if (me.call_->over())
            break;
        if (ec && ec != zk_errc::not_read_only) {
            me.call_->fail(ec);
        } else if (!ec && me.started_) {
            me.phase_ = phase::inside;
            me.admitted_ = true;
            me.call_->complete(error_code());
        } else {
            co_await me.wake_.wait();
        }
    }
    forget_watch(p, me.ready_watch_, watch_kind::exists, me.ready_);
    if (me.member_watch_.armed())
        forget_watch(p, me.member_watch_, watch_kind::data, me.node_);
    if (!me.inside())
        co_await me.go_away();
}

/// Creates the member's node and looks whether the round has started. Ends early if the call is
/// over: who has given up must not start the round.
/// @param again whether to call it again at once
task<error_code> page_member::come_in(bool& again) {
    const std::uint64_t generation = port_.status().generation;
    if (generation_ != generation) {
        generation_ = 0;
        ready_watch_.created = false;
        error_code ec = co_await tidy();
        if (ec || call_->over())
            co_return ec;
        ec = co_await make(again);
        if (ec || again || generation_ == 0 || call_->over())
            co_return ec;
    }
    started_ = ready_watch_.created;
    if (started_ || ready_watch_.armed())
        co_return error_code();
    request ready(port_, op_code::exists, ready_, generation_);
    ready.attach(ready_watch_);
    request listing(port_, op_code::children, where_.path, generation_);
    ready.send();
    listing.send();
    error_code ec = co_await ready;
    error_code listed = co_await listing;
    if (!ec)
        forget_watch(port_, ready_watch_, watch_kind::data, ready_);
    if (listed)
        ready_watch_.disarm();  // what is watched must have been counted
    if (ec && ec != zk_errc::no_node)
        co_return ec;
    if (listed && listed != zk_errc::no_node)
        co_return listed;
    if (call_->over())
        co_return error_code();
    const page_barrier_view view = view_page_barrier(listing.names);
    if (!still_members({name_}, view).empty()) {
        started_ = !ec || view.ready;
        if (started_ || view.members.size() < where_.size)
            co_return error_code();
        ec = co_await create_ready();
        if (ec)
            ready_watch_.disarm();  // count again: nobody else may create it
        co_return ec;
    }
    // Deleted by another client.
    ready_watch_.disarm();
    generation_ = 0;
    again = true;
    co_return error_code();
}

/// Deletes a `ready` that was left behind.
task<error_code> page_member::tidy() {
    if (tidied_)
        co_return error_code();
    request listing(port_, op_code::children, where_.path);
    error_code ec = co_await behind_sync(port_, listing);
    if (ec && ec != zk_errc::no_node)
        co_return ec;
    const page_barrier_view view = view_page_barrier(listing.names);
    if (!ec && view.ready && view.members.empty()) {
        request erase(port_, op_code::erase, ready_);
        ec = co_await erase;
    }
    tidied_ = !ec || ec == zk_errc::no_node;
    co_return tidied_ ? error_code() : ec;
}

/// Creates the member's node, unless that of an earlier session is still there: then waits for its
/// deletion.
task<error_code> page_member::make(bool& again) {
    if (member_watch_.armed())
        co_return error_code();
    const std::uint64_t generation = port_.status().generation;
    request create(port_, op_code::create, node_, generation);
    create.mode = create_mode::ephemeral;
    create.entries = where_.entries;
    error_code ec = co_await create;
    retry attempt(port_);
    if (!ec) {
        generation_ = generation;
    } else if (ec == zk_errc::no_node) {
        again = true;
        co_return co_await ensure_path(port_, where_.path, where_.entries, where_.parents);
    } else if (ec == zk_errc::node_exists) {
        request look(port_, op_code::get, node_, generation);
        look.attach(member_watch_);
        ec = co_await look;
        const bool ours = !ec && look.record.ephemeral_owner == port_.status().session_id;
        if (ours)
            generation_ = generation;
        if (ours || ec)
            member_watch_.disarm();
        again = ec == zk_errc::no_node;
        co_return again ? error_code() : ec;
    } else if (attempt.again(ec) && attempt.doubtful()) {
        perhaps_in_ = generation;
    }
    co_return ec;
}

task<error_code> page_member::create_ready() {
    request create(port_, op_code::create, ready_, generation_);
    create.entries = where_.entries;
    may_have_started_ = true;
    error_code ec = co_await create;
    started_ = !ec || ec == zk_errc::node_exists;
    co_return started_ ? error_code() : ec;
}

task<> page_member::run_leave(std::shared_ptr<page_member> self) {
    page_member& me = *self;
    port& p = me.port_;
    session_signal session(p, me.wake_);
    while (!me.call_->over()) {
        bool again = false;
        error_code ec;
        if (!p.alive(me.generation_))
            ec = end_of_session(p);
        else
            ec = co_await me.go_out(again);
        if (retry(p, me.generation_).again(ec) || (!ec && again))
            continue;
        if (me.call_->over())
            break;
        if (ec || (me.listed_ && me.others_.empty()))
            me.call_->complete(ec);
        else
            co_await me.wake_.wait();
    }
    if (me.member_watch_.armed())
        forget_watch(p, me.member_watch_, watch_kind::data, me.watched_);
    co_await me.go_away();
}

/// Deletes the own node when it is its turn, and watches a member that is still inside.
/// @param again whether to call it again at once
task<error_code> page_member::go_out(bool& again) {
    if (!ready_gone_) {
        request erase(port_, op_code::erase, ready_, generation_);
        error_code ec = co_await erase;
        if (ec && ec != zk_errc::no_node)
            co_return ec;
        ready_gone_ = true;
    }
    if (member_watch_.armed())
        co_return error_code();
    // It may already be there again, with the same name, for the next round.
    if (std::exchange(member_watch_.erased, false) && !watched_.empty())
        std::erase(others_, base_name(watched_));
    request listing(port_, op_code::children, where_.path, generation_);
    error_code ec = co_await listing;
    if (ec && ec != zk_errc::no_node)
        co_return ec;
    const page_barrier_view view = view_page_barrier(listing.names);
    others_ = listed_ ? still_members(others_, view) : view.members;
    listed_ = true;
    const page_leave step = plan_page_leave(others_, name_);
    if (step == page_leave::done)
        co_return error_code();
    again = true;
    if (step == page_leave::erase) {
        request erase(port_, op_code::erase, node_, generation_);
        ec = co_await erase;
        gone_ = !ec || ec == zk_errc::no_node;
        co_return gone_ ? error_code() : ec;
    }
    watched_ =
        join_path(where_.path, step == page_leave::watch_first ? others_.front() : others_.back());
    request look(port_, op_code::get, watched_, generation_);
    look.attach(member_watch_);
    ec = co_await look;
    again = ec == zk_errc::no_node;
    member_watch_.erased = again;
    co_return again ? error_code() : ec;
}

}  // namespace corozk::detail
