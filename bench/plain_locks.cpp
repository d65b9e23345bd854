// SPDX-License-Identifier: Apache-2.0
#include "plain_locks.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <string_view>

namespace corozk::bench {

namespace {

constexpr std::size_t sequence_digits = 10;

std::string_view sequence_of(std::string_view name) {
    return name.substr(name.size() - sequence_digits);
}

/// The name right before mine in the order of sequences; empty if mine is the first.
std::string_view predecessor(const node_children& children, std::string_view mine) {
    std::string_view nearest;
    for (std::string_view name : children.names) {
        if (sequence_of(name) >= sequence_of(mine))
            continue;
        if (nearest.empty() || sequence_of(name) > sequence_of(nearest))
            nearest = name;
    }
    return nearest;
}

/// The first of all names, if that is not mine.
std::string_view first_before(const node_children& children, std::string_view mine) {
    std::string_view first = mine;
    for (std::string_view name : children.names) {
        if (sequence_of(name) < sequence_of(first))
            first = name;
    }
    return first == mine ? std::string_view() : first;
}

}  // namespace

boost::asio::awaitable<void> plain_recipe::prepare(client& c, std::string path) {
    co_await c.ensure_path(path);
}

boost::asio::awaitable<created_node> plain_recipe::enter() {
    create_options mine;
    mine.mode = create_mode::ephemeral_sequential;
    co_return co_await client_->create(path_ + "/node-", std::string(), mine);
}

boost::asio::awaitable<plain_grant> textbook_lock::acquire(std::size_t) {
    auto node = co_await enter();
    for (;;) {
        std::string before;
        {
            auto children = co_await client_->get_children(path_);
            before = predecessor(children, node.path);
        }
        if (before.empty())
            break;
        auto ahead = co_await client_->watch_exists(path_ + '/' + before);
        if (!ahead.stat)
            continue;
        counted here(waiting_);
        co_await ahead.changed.next();
    }
    co_return plain_grant(*client_, std::move(node));
}

boost::asio::awaitable<plain_grant> herd_election::acquire(std::size_t) {
    auto node = co_await enter();
    for (;;) {
        std::string leader;
        {
            auto children = co_await client_->get_children(path_);
            leader = first_before(children, node.path);
        }
        if (leader.empty())
            break;
        auto ahead = co_await client_->watch_exists(path_ + '/' + leader);
        if (!ahead.stat)
            continue;
        counted here(waiting_);
        co_await ahead.changed.next();
    }
    co_return plain_grant(*client_, std::move(node));
}

boost::asio::awaitable<plain_grant> herd_lock::acquire(std::size_t) {
    create_options mine;
    mine.mode = create_mode::ephemeral;
    for (;;) {
        auto [taken, node] = co_await client_->create(
            path_, std::string(), mine, boost::asio::as_tuple(boost::asio::use_awaitable));
        if (!taken)
            co_return plain_grant(*client_, std::move(node));
        if (taken != zk_errc::node_exists)
            throw error(taken, "create", path_);
        auto holder = co_await client_->watch_exists(path_);
        if (!holder.stat)
            continue;
        counted here(waiting_);
        co_await holder.changed.next();
    }
}

}  // namespace corozk::bench
