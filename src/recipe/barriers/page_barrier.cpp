// SPDX-License-Identifier: Apache-2.0
#include "recipe/barriers/page_barrier.hpp"

#include "driver/request.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/retry.hpp"

#include <utility>

namespace corozk::detail {

page_member::page_member(const page_nodes& nodes, std::uint64_t rounds)
    : earlier_rounds_(rounds),
      nodes_(nodes),
      wake_(nodes_.client),
      entry_(nodes_, wake_),
      exit_(nodes_, wake_) {}

void page_member::follow(const std::shared_ptr<page_member>& previous) {
    if (!previous || previous->ended_)
        return;
    previous->next_ = weak_from_this();
    previous_ = previous;
}

void page_member::enter(recipe_core& core, handler_of<> handler, time_limit limit) {
    call_ = std::make_unique<waiting_call<>>(core, std::move(handler), wake_, limit);
    nodes_.client.spawn(run_enter(shared_from_this()));
}

void page_member::leave(recipe_core& core, handler_of<> handler, time_limit limit) {
    call_ = std::make_unique<waiting_call<>>(core, std::move(handler), wake_, limit);
    phase_ = phase::leaving;
    nodes_.client.spawn(run_leave(shared_from_this()));
}

void page_member::withdraw() {
    nodes_.client.spawn(run_withdraw(shared_from_this()));
}

task<> page_member::run_withdraw(std::shared_ptr<page_member> self) {
    co_await self->go_away();
}

/// Deletes what is left of it.
task<> page_member::go_away() {
    phase_ = phase::outside;
    port& p = nodes_.client;
    const std::uint64_t generation = nodes_.generation != 0 ? nodes_.generation : nodes_.perhaps_in;
    if (generation != 0 && !exit_.gone()) {
        if (p.alive(generation)) {
            // As in `page_exit::go_out`: it would let the next one in alone.
            if (admitted_ && !exit_.ready_gone())
                co_await delete_or_report(p, nodes_.ready, generation);
            co_await delete_or_report(p, nodes_.own, generation);
            co_await entry_.clean_up(generation, admitted_);
        }
        if (!p.alive(generation))
            co_await until_gone();
    }
    ended_ = true;
    if (auto next = next_.lock())
        next->wake_.set();
}

/// The server may keep the node of an earlier session for a while, in which the object would count twice.
task<> page_member::until_gone() {
    port& p = nodes_.client;
    session_signal session(p, wake_);
    watch_signal erased(wake_);
    for (;;) {
        wake_.clear();
        erased.disarm();
        request look(p, op_code::exists, nodes_.own);
        look.attach(erased);
        error_code ec = co_await behind_sync(p, look);
        if (retry(p).again(ec))
            continue;
        if (ec && ec != zk_errc::not_read_only)
            break;
        co_await wake_.wait();
    }
    forget_watch(p, erased, nodes_.own);
}

task<> page_member::run_enter(std::shared_ptr<page_member> self) {
    page_member& me = *self;
    port& p = me.nodes_.client;
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
        error_code ec = co_await me.entry_.come_in(*me.call_, again);
        if (retry(p).again(ec) || (!ec && again))
            continue;
        if (me.call_->over())
            break;
        if (ec && ec != zk_errc::not_read_only) {
            me.call_->fail(ec);
        } else if (!ec && me.entry_.started()) {
            me.phase_ = phase::inside;
            me.admitted_ = true;
            me.call_->complete(error_code());
        } else {
            co_await me.wake_.wait();
        }
    }
    me.entry_.forget();
    if (!me.inside())
        co_await me.go_away();
}

task<> page_member::run_leave(std::shared_ptr<page_member> self) {
    page_member& me = *self;
    port& p = me.nodes_.client;
    session_signal session(p, me.wake_);
    while (!me.call_->over()) {
        bool again = false;
        error_code ec;
        if (!p.alive(me.nodes_.generation))
            ec = end_of_session(p);
        else
            ec = co_await me.exit_.go_out(again);
        if (retry(p, me.nodes_.generation).again(ec) || (!ec && again))
            continue;
        if (me.call_->over())
            break;
        const bool refused = ec && ec != zk_errc::not_read_only;
        if (refused || (!ec && me.exit_.done()))
            me.call_->complete(ec);
        else
            co_await me.wake_.wait();
    }
    me.exit_.forget();
    co_await me.go_away();
}

}  // namespace corozk::detail
