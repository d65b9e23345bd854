// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/contention_rule.hpp"
#include <corozk/contender_info.hpp>

#include <vector>

namespace corozk::detail {

/// Weighted permits, one node for each acquisition, whatever its weight: nobody holds some permits
/// while it waits for more.
///
///  1. An entry is granted when its weight and that of everything ahead of it do not exceed the
///     limit. So nobody overtakes a large request, and the holders never exceed the limit.
///  2. It waits for the nearest ones ahead that with it are too many: as long as all of those
///     exist, so is the sum. Those are mostly waiters themselves, who do not go before it is their
///     turn: a release wakes the first ones in the queue, not all.
///  3. A limit that becomes smaller revokes nothing: the holders stay, and nobody is granted before
///     enough of them have gone. Whoever asks for more than the limit is refused, and does not
///     stand in the way of others.
///  4. With the names of Curator or Kazoo a lease is taken, and waited for, only by the one who
///     holds their lock (the gate). They count all children of the folder, those included that
///     wait: two who waited at a time would each count the other. So nobody is behind the one that
///     waits, and what is ahead of it only disappears. Who loses the gate while it waits gives its
///     lease up: the next one may have counted before it came.
class semaphore_rule final : public contention_rule {
public:
    void blockers(ahead_of& ahead,
                  const contention_entry& me,
                  std::vector<const contention_entry*>& out) const override;
    std::vector<blocking_range> blocking_ranges(const contention_entries& queue,
                                                std::int32_t limit) const override;
};

const semaphore_rule& the_semaphore_rule() noexcept;

/// The permits that nobody holds or waits for: what a newcomer could take at once.
std::int32_t free_permits(const std::vector<contender_info>& queue, std::int32_t limit) noexcept;

}  // namespace corozk::detail
