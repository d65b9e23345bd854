// SPDX-License-Identifier: Apache-2.0
#include "recipe/locks/semaphore_rule.hpp"

#include <algorithm>

namespace corozk::detail {

void semaphore_rule::blockers(ahead_of& ahead,
                              const contention_entry& me,
                              std::vector<const contention_entry*>& out) const {
    std::int64_t sum = me.weight;
    while (const contention_entry* e = ahead.next()) {
        sum += e->weight;
        out.push_back(e);
        if (sum > ahead.limit)
            return;
    }
    out.clear();
}

std::vector<blocking_range> semaphore_rule::blocking_ranges(const contention_entries& queue,
                                                            std::int32_t limit) const {
    std::vector<blocking_range> ranges(queue.size());
    std::vector<std::int64_t> ahead;  // for each entry, the sum of the weights ahead
    ahead.reserve(queue.size());
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        ahead.push_back(sum);
        sum += queue[i].weight;
        // Too much with the entries from `first` on, but not without the first of them.
        auto behind_first = std::lower_bound(ahead.begin(), ahead.end() - 1, sum - limit);
        if (behind_first == ahead.begin())
            continue;
        auto first = static_cast<std::size_t>(behind_first - ahead.begin()) - 1;
        ranges[i] = {first, i - first};
    }
    return ranges;
}

std::int32_t free_permits(const std::vector<contender_info>& queue, std::int32_t limit) noexcept {
    std::int64_t taken = 0;
    for (const contender_info& c : queue)
        taken += c.weight;
    return static_cast<std::int32_t>(std::max<std::int64_t>(limit - taken, 0));
}

}  // namespace corozk::detail
