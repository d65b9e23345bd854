// SPDX-License-Identifier: Apache-2.0
// Downgrades and upgrades: a holder changes the kind or the place of its node.
#include "driver/pending_call.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/contention/contention_queue.hpp"
#include "recipe/toolkit/retry.hpp"

#include <algorithm>
#include <utility>

namespace corozk::detail {

using stage = local_node::stage_type;

void contention_queue::convert(const contender_ptr& c, std::uint8_t new_kind, user_call<> call) {
    if (c->converting || c->replacement())
        return call.fail(errc::busy);
    c->converting = true;
    start_driver(conversion(c, new_kind, cancellable(std::move(call), stops_waiting)));
}

/// Replaces a node in one step. As release requests are written to the old node, it is read first
/// and must not have been written since.
task<error_code> contention_queue::exchange_node(contender_ptr c,
                                                 std::string new_path,
                                                 std::int64_t& created) {
    std::string old_path = c->path();
    retry attempts(port_, c->session);
    for (;;) {
        request old(port_, op_code::get, old_path, c->session);
        error_code ec = co_await old;
        retry reading = attempts;  // it leaves no doubt
        if (co_await again_with_quorum(port_, reading, ec))
            continue;
        if (!ec) {
            c->inspect(old);
            transaction steps;
            steps.create(new_path, *c->data_, settings_->ephemeral());
            steps.erase(old_path, old.record.version);
            request multi(port_, steps, c->session);
            ec = co_await multi;
            const bool again = co_await again_with_quorum(port_, attempts, ec);
            if (again || ec == zk_errc::bad_version)
                continue;
        }
        // The new name is unique.
        bool done = attempts.doubtful() && (ec == zk_errc::node_exists || ec == zk_errc::no_node);
        if (ec && !done)
            co_return ec;
        break;
    }
    for (;;) {
        request look_at(port_, op_code::exists, new_path, c->session);
        error_code ec = co_await look_at;
        created = look_at.record.czxid;
        if (!attempts.again(ec))
            co_return ec;
    }
}

task<> contention_queue::conversion(contender_ptr c,
                                    std::uint8_t new_kind,
                                    std::shared_ptr<pending_call<>> call) {
    std::string guid = port_.new_guid();
    std::string new_path = c->path_as(guid, new_kind);
    std::int64_t created = 0;
    error_code ec = co_await exchange_node(c, new_path, created);
    c->converting = false;
    bool there = c->state == stage::granted || c->state == stage::releasing;
    if (!ec && there) {
        std::copy_n(guid.begin(), c->guid_text.size(), c->guid_text.begin());
        c->kind = new_kind;
        // Those behind it have smaller ones than the new node.
        c->more().token = c->fencing_token();
        c->czxid = created;
        c->watch_.disarm();
        view_.renamed(*c, base_name(new_path));
    }
    if (ec == zk_errc::no_node)
        ec = errc::ownership_lost;
    if (c->state == stage::granted)
        prove(*c);
    if (c->state == stage::releasing)
        erase(*c);
    call->complete(ec);
    driver_ended();
}

void contention_queue::replace(const contender_ptr& c,
                               const acquire_request& request,
                               contender_data data,
                               user_call<ownership> call) {
    auto earlier = c->replacement();
    if (c->converting || (earlier && earlier->state != stage::unwanted))
        return call.fail(errc::busy);
    auto later = enter(request, std::move(data), std::move(call));
    later->except = c->order;
    later->more().replaced = c;
    c->more().replacement = later;
}

/// The two exchange places: the user's contender gets the new one, the other one leaves.
void contention_queue::granted_replacement(contender& c, user_call<ownership>& call) {
    auto held = std::move(c.extras_->replaced);
    held->extras_->replacement.reset();
    c.except = no_order;
    held->more().token = 0;
    view_.exchange(c, *held);
    c.watch_.disarm();
    held->watch_.disarm();
    prove(*held);
    c.more().heir = held;
    release(c);
    call.complete(error_code(), ownership());
}

/// Deletes the node of the previous place. A release request written there is passed on to the
/// heir.
task<> contention_queue::leave_place(contender_ptr c, contender_ptr heir) {
    for (;;) {
        request old(port_, op_code::get, c->path(), c->session);
        old.owed = true;
        error_code ec = co_await old;
        if (retry(port_, c->session).again(ec))
            continue;
        if (ec) {
            erased(*c, old);
            break;
        }
        heir->inspect(old);
        request last(port_, op_code::erase, c->path(), c->session);
        last.version = old.record.version;
        last.owed = true;
        ec = co_await last;
        retry attempt(port_, c->session);
        const bool again = attempt.again(ec);
        c->erase_unknown = c->erase_unknown || attempt.doubtful();
        if (again || ec == zk_errc::bad_version)
            continue;
        erased(*c, last);
        break;
    }
    driver_ended();
}

/// It no longer waits to replace another contender, or that one cannot be replaced any more.
void contention_queue::forget_replaced(contender& c) {
    if (auto later = c.replacement())
        later->abandon(errc::ownership_lost);
    erase_attached(c);
    if (!c.replaces())
        return;
    auto held = std::move(c.extras_->replaced);
    if (held->replacement().get() == &c)
        held->extras_->replacement.reset();
}

}  // namespace corozk::detail
