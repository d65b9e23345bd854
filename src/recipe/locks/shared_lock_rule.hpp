// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/contention_rule.hpp"

namespace corozk::detail {

inline constexpr std::uint8_t read_kind = 0;
inline constexpr std::uint8_t write_kind = 1;

/// The shared lock. (Recipes page, "Shared Locks".)
///
///  1. A reader waits for the nearest writer ahead, a writer for the nearest node ahead. As they
///     wait only for nodes ahead, there are no cycles.
///  2. Hence the holders are the first node if it is a writer, or else all readers up to the first
///     writer; all other nodes wait.
///  3. A reader directly behind a reader that holds the lock holds it, too.
///  4. An upgrade is a writer that does not wait for the reader that it replaces (`except`). It can
///     only be granted if there is no writer ahead, as a writer between the two waits for that
///     reader. So of two upgrades one is hopeless, and the other one waits for its reader only.
///  5. A downgrade replaces the writer by a reader at the same place, which is therefore not empty
///     when the writer's node is deleted. An upgrade has a new place, and leaves the reader's
///     empty.
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

inline constexpr shared_rule the_shared_rule{};

}  // namespace corozk::detail
