// SPDX-License-Identifier: Apache-2.0
// What the fault tests of all queues look at when a fault has passed.
#pragma once

#include "pending_result.hpp"
#include <corozk/recipe/queue.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace corozk::testing {

/// The data of a queue's items, in the order of their names.
inline std::vector<std::string> items_at(const std::string& path) {
    std::vector<std::string> items;
    admin hand = observer();
    for (const std::string& name : hand.children(path))
        items.push_back(hand.data(path + "/" + name));
    return items;
}

/// Waits until of the queue `q` in this folder no claim, no ledger and no watch is left.
inline boost::asio::awaitable<void> only_items_left(std::string folder) {
    co_await eventually_async([&] {
        for (const auto& [node, session] : ephemerals(shared_server().port())) {
            if (node.starts_with(folder + "/"))
                return false;
        }
        return observer().children(folder + "/q-control").empty() &&
               watch_count(shared_server().port()) == 0;
    });
}

/// Of `count` items, "0", "1", ..., a take that was interrupted gave the first, or gave it back: with
/// it or without it, the next takes give the rest, in order.
template <class Queue>
boost::asio::awaitable<void> all_come_in_order(pending_result<queue_item>& interrupted,
                                               Queue& next,
                                               int count) {
    error_code ec = co_await finished(interrupted);
    CHECK((!ec || ec == boost::asio::error::operation_aborted));
    std::vector<std::string> taken;
    if (!ec)
        taken.push_back(interrupted.value().data);
    for (int left = count - static_cast<int>(taken.size()); left > 0; --left) {
        queue_item item = co_await next.take();
        taken.push_back(item.data);
    }
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i)
        all.push_back(std::to_string(i));
    CHECK(taken == all);
    CHECK(interrupted.calls() == 1);
}

}  // namespace corozk::testing
