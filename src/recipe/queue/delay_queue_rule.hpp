// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/queue/item_order.hpp"
#include <corozk/recipe/delay_queue_types.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace corozk::detail {

// The delay queue's rules: those of the queue (queue/rule.hpp), and
//
//  1. An item's due time is part of its name, determined when `put` is called and never changed: a
//     retry after a lost response uses the same name, and so does a consumer that puts an item
//     back. So the order, by due time and then by sequence, is the same for all clients, regardless
//     of their clocks.
//  2. An item is taken, peeked at or claimed only if its due time is not after the time of the
//     consumer's clock, read after the call. Delays are rounded up and clocks down: with a single
//     clock no item is taken early.
//  3. No item is taken while an unclaimed one with an earlier due time is known, from a listing
//     that was requested after the calls.
//  4. Exactly-once does not depend on clocks. A clock that jumps in any direction only changes when
//     an item is taken.
//  5. A waiting consumer has a watch, set by its listing, and a timer for the time when the next
//     item becomes due, but at most `clock_check_interval`. So it detects new items (watch), items
//     that become due (timer), a clock that has jumped ahead (timer, within
//     `clock_check_interval`), and ended claims (their watches).
//  6. If the consumer's clock has jumped back when the timer expires, nothing is due, and the timer
//     is set again. Listings are caused by watches, sessions and calls, never by time.
//  7. A crash has the same effects as in any queue: a put leaves the item or nothing, a take the
//     item or nothing, a consumer a claim that ends with its session. The timer is local.

/// A clock's jump ahead is detected within this time.
constexpr std::chrono::milliseconds clock_check_interval{1'000};

/// The rank of a due time; 0 to `latest_due`.
std::int64_t due_at(const due_time& when, std::chrono::system_clock::time_point now) noexcept;

/// For the user; clamped to the range of the clock.
std::chrono::system_clock::time_point time_of_due(std::int64_t due) noexcept;

/// The due items of a listing.
struct due_items {
    std::size_t count = 0;                           ///< the number of due items at the front
    std::optional<std::chrono::milliseconds> again;  ///< when to read the clock again
};

due_items find_due(const item_order& items, std::chrono::system_clock::time_point now) noexcept;

}  // namespace corozk::detail
