// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/contention_rule.hpp"

namespace corozk::detail {

inline constexpr std::uint8_t read_kind = 0;
inline constexpr std::uint8_t write_kind = 1;

/// The shared lock. (Recipes page, "Shared Locks".)
///
///  1. A reader waits for the nearest writer ahead, a writer for the nearest node ahead. Only what
///     is ahead counts, so nobody ever waits in a circle.
///  2. Hence the holders are the first node alone if it is a writer, else all readers up to the
///     first writer; and whoever is ahead of a waiter and not a holder waits, too.
///  3. A reader right behind a reader that holds the lock holds it, too.
///  4. An upgrade is a writer that does not wait for the reader whose place it leaves (`except`).
///     It can only be granted if no writer stands anywhere ahead of it: a writer between the two
///     waits for that reader. Of two upgrades one is therefore hopeless, and the other one waits
///     for its reader only.
///  5. A downgrade puts a reader in the writer's place: the end of a writer's node does not say
///     that nobody stands there any more. An upgrade has a place of its own, and the reader's one
///     is empty afterwards.
class shared_rule final : public contention_rule {
public:
    void blockers(ahead_of& ahead,
                  const contention_entry& me,
                  std::vector<const contention_entry*>& out) const override;
    std::vector<blocking_range> blocking_ranges(const contention_entries& queue,
                                                std::int32_t limit) const override;
    bool follows(const contention_entry& granted, const contention_entry& me) const override;
    bool hopeless(ahead_of& ahead, const contention_entry& me) const override;
    bool can_be_converted(const contention_entry& entry) const override;
};

const shared_rule& the_shared_rule() noexcept;

}  // namespace corozk::detail
