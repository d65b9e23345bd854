// SPDX-License-Identifier: Apache-2.0
#include "recipe/barriers/page_entry.hpp"

#include "driver/ensure_path.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/barriers/page_barrier_rule.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/retry.hpp"

namespace corozk::detail {

task<error_code> page_entry::come_in(const waiting_call<>& call, bool& again) {
    const std::uint64_t generation = nodes_.client.status().generation;
    const bool missing = nodes_.generation != generation;
    if (missing) {
        // The server may keep its node of an earlier session for a while.
        if (nodes_.generation != 0)
            nodes_.perhaps_in = nodes_.generation;
        nodes_.generation = 0;
        ready_watch_.created = false;
        ready_watch_.disarm();
        error_code ec = co_await tidy();
        if (ec || call.over() || predecessor_watch_.armed())
            co_return ec;
        // In a session that began meanwhile the node would be created, but nothing watched before.
        again = nodes_.client.status().generation != generation;
        if (again)
            co_return ec;
    }
    started_ = ready_watch_.created;
    if (started_ || ready_watch_.armed())
        co_return error_code();
    // Before the node counts: the others may start the round at once, and leave it.
    request ready(nodes_.client, op_code::exists, nodes_.ready, generation);
    ready.attach(ready_watch_);
    ready.send();
    error_code made;
    if (missing)
        made = co_await make(call, again);
    const bool counts = nodes_.generation == generation;
    request listing(nodes_.client, op_code::children, nodes_.parent, generation);
    if (counts)
        listing.send();
    error_code ec = co_await ready;
    if (!counts)
        co_return made;
    error_code listed = co_await listing;
    if (!ec)
        forget_watch(nodes_.client, ready_watch_, nodes_.ready);
    if (listed)
        ready_watch_.disarm();  // what is watched must have been counted
    if (ec && ec != zk_errc::no_node)
        co_return ec;
    if (listed && listed != zk_errc::no_node)
        co_return listed;
    if (call.over())
        co_return error_code();
    const page_barrier_view view = view_page_barrier(listing.names);
    if (!still_members({nodes_.name}, view).empty()) {
        started_ = !ec || view.ready;
        if (started_ || view.members.size() < nodes_.size)
            co_return error_code();
        ec = co_await create_ready();
        if (ec)
            ready_watch_.disarm();  // count again: nobody else may create it
        co_return ec;
    }
    // Deleted by another client.
    ready_watch_.disarm();
    nodes_.generation = 0;
    again = true;
    co_return error_code();
}

/// Deletes a `ready` that was left behind.
task<error_code> page_entry::tidy() {
    if (tidied_)
        co_return error_code();
    request listing(nodes_.client, op_code::children, nodes_.parent);
    error_code ec = co_await behind_sync(nodes_.client, listing);
    if (ec && ec != zk_errc::no_node)
        co_return ec;
    const page_barrier_view view = view_page_barrier(listing.names);
    if (!ec && view.ready && view.members.empty()) {
        request erase(nodes_.client, op_code::erase, nodes_.ready);
        ec = co_await erase;
    }
    tidied_ = !ec || ec == zk_errc::no_node;
    co_return tidied_ ? error_code() : ec;
}

/// Creates the member's node, unless that of an earlier session is still there: then waits for its
/// deletion.
task<error_code> page_entry::make(const waiting_call<>& call, bool& again) {
    const std::uint64_t generation = nodes_.client.status().generation;
    request create(nodes_.client, op_code::create, nodes_.own, generation);
    create.mode = create_mode::ephemeral;
    create.entries = nodes_.entries;
    create.only_for(&call.users_call());
    error_code ec = co_await create_with_parents(nodes_.client, create, nodes_.parents);
    retry attempt(nodes_.client);
    if (!ec) {
        nodes_.generation = generation;
    } else if (ec == zk_errc::node_exists) {
        request look(nodes_.client, op_code::get, nodes_.own, generation);
        look.attach(predecessor_watch_);
        ec = co_await look;
        const bool ours = !ec && look.record.ephemeral_owner == nodes_.client.status().session_id;
        if (ours)
            nodes_.generation = generation;
        if (ours || ec)
            predecessor_watch_.disarm();
        again = ec == zk_errc::no_node;
        co_return again ? error_code() : ec;
    } else if (attempt.again(ec) && attempt.doubtful()) {
        nodes_.perhaps_in = generation;
    }
    co_return ec;
}

task<error_code> page_entry::create_ready() {
    request create(nodes_.client, op_code::create, nodes_.ready, nodes_.generation);
    create.entries = nodes_.entries;
    may_have_started_ = true;
    error_code ec = co_await create;
    started_ = !ec || ec == zk_errc::node_exists;
    co_return started_ ? error_code() : ec;
}

void page_entry::forget() {
    forget_watch(nodes_.client, ready_watch_, nodes_.ready);
    if (predecessor_watch_.armed())
        forget_watch(nodes_.client, predecessor_watch_, nodes_.own);
}

task<> page_entry::clean_up(std::uint64_t generation, bool admitted) {
    if (nodes_.perhaps_in == generation)
        nodes_.client.use_service<background_deleter>().erase_late(
            nodes_.parent, nodes_.name, generation);
    // Those who are inside delete `ready`, but all others may have given up, too.
    if (!may_have_started_ || admitted)
        co_return;
    tidied_ = false;
    retry attempts(nodes_.client, generation);
    error_code ec;
    do {
        ec = co_await tidy();
    } while (attempts.again(ec));
}

}  // namespace corozk::detail
