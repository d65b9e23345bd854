// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/queue/item_order.hpp"
#include <corozk/recipe/delay_queue_types.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace corozk::detail {

// The delay queue's rules: those of the queue (queue/rule.hpp), and
//
//  1. An item's due time is in its name, fixed when `put` is called and never changed: an attempt
//     after a lost response creates the same name, and so does a consumer that puts an item back.
//     Therefore the order, by due time and then by sequence, is the same for all clients, whatever
//     their clocks say.
//  2. An item is taken, peeked at or claimed only if its due time is not after what the consumer's
//     clock said when it was last read, which was after the call. A delay is rounded up and the clock
//     rounded down: with one clock nothing comes early.
//  3. No item is taken while one that is due earlier is known to be there unclaimed, and what is known
//     is a listing that was requested after the calls.
//  4. The server and the ledger make sure of exactly once; no clock has a part in it. So a clock that
//     jumps, either way and at any moment, changes when something is taken, and nothing else.
//  5. A consumer that waits has a watch, set by the listing that it relies on, and one timer, for when
//     the first item that is not due will be, or `clock_check_interval` if that is sooner. So each of
//     these is noticed: an item that is put (watch), one that becomes due (timer), a clock that has
//     jumped ahead (timer, within `clock_check_interval`), a claim that has ended (its watch).
//  6. If the consumer's clock has gone back when the timer expires, nothing is due, and the timer is
//     set again. Listings are requested because of watches, sessions and calls, never because of time.
//  7. A crash leaves what it leaves in a queue: of a put the item or nothing, of a take the item or
//     nothing, of a consumer a claim that goes with its session. The timer is in this process only.

/// The digits of a due time in an item's name: enough until 2286.
constexpr std::size_t due_width = 13;
constexpr std::int64_t latest_due = 9'999'999'999'999;

/// A clock's jump ahead is noticed within this time.
constexpr std::chrono::milliseconds clock_check_interval{1'000};

/// How a due time is written in an item's name; ms since 1970, 0 to `latest_due`.
std::string due_text(std::int64_t due);

/// Nothing if the name is not an item's.
std::optional<std::int64_t> parse_due(std::string_view text) noexcept;

/// The rank for what a caller asks for; 0 to `latest_due`.
std::int64_t due_at(const due_time& when, std::chrono::system_clock::time_point now) noexcept;

/// For the user; the latest that the clock can say, if that is earlier.
std::chrono::system_clock::time_point time_of_due(std::int64_t due) noexcept;

/// Which items of a listing are due.
struct due_items {
    std::size_t count = 0;                           ///< so many of the first
    std::optional<std::chrono::milliseconds> again;  ///< when to read the clock again, if at all
};

due_items find_due(const item_order& items, std::chrono::system_clock::time_point now) noexcept;

}  // namespace corozk::detail
