// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/contention_rule.hpp"
#include <corozk/contender_info.hpp>

#include <vector>

namespace corozk::detail {

/// Weighted permits. An acquisition has one node regardless of its weight, so that none holds some
/// permits while waiting for more.
///
///  1. An entry is granted when the sum of its weight and those of all entries ahead does not
///     exceed the limit. So large requests are not overtaken, and the holders never exceed the
///     limit.
///  2. It waits for the nearest entries ahead that together with it exceed the limit, which is the
///     case as long as all of them exist. Most of them are waiters themselves, so that a release
///     wakes only the first ones in the queue.
///  3. Lowering the limit revokes nothing: none is granted until enough permits were released.
///     Requests that exceed the limit fail, so that they do not block others.
///  4. With the names of Curator or Kazoo, leases are acquired, one at a time, by the holder of
///     their lock (the gate), because these libraries count all children, including waiting ones:
///     two waiters would count each other. So there is no entry behind the waiting one, and entries
///     ahead are only deleted. A waiter that loses the gate gives up its lease, as the next one may
///     have counted without it.
class semaphore_rule final : public contention_rule {
public:
    void blockers(ahead_of& ahead,
                  const contention_entry& me,
                  std::vector<const contention_entry*>& out) const override;
    std::vector<blocking_range> blocking_ranges(const contention_entries& queue,
                                                std::int32_t limit) const override;
};

inline constexpr semaphore_rule the_semaphore_rule{};

/// The permits that could be acquired without waiting.
std::int32_t free_permits(const std::vector<contender_info>& queue, std::int32_t limit) noexcept;

}  // namespace corozk::detail
