// SPDX-License-Identifier: Apache-2.0
// What all queues have in common: where their items are, and that none is lost or doubled.
#pragma once

#include "matrix/engine/call.hpp"
#include <corozk/recipe/queue.hpp>

#include <string>

namespace corozk::matrix {

std::string queue_path(const stage& s);

/// The node that an acknowledgement makes of an item.
std::string effect_of(const stage& s, const std::string& item);

/// What was put successfully was taken, had its effect, or is there; nothing is there twice, or from
/// nowhere. Scenarios note what they have "tried" to put, "put", "taken", what was "refused": not
/// sent, or not in time, and of what it is "unknown" whether it was taken.
awaitable<void> no_item_lost(stage& s);

/// Of all that may be below the folder in the end.
bool is_of_a_queue(stage& s, const std::string& below_folder);

/// A put that is noted.
template <class Queue, class... Order>
awaitable<void> put_noted(Queue& q, stage& s, std::string item, Order... order) {
    s.note("tried", item);
    co_await q.put(item, order...);
    s.note("put", item);
}

/// A take that is noted.
awaitable<queue_item> taken(stage& s, call<queue_item>& taking, std::string expected);

}  // namespace corozk::matrix
