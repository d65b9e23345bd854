// SPDX-License-Identifier: Apache-2.0
#include "recipe/semaphore_algo.hpp"

#include <algorithm>

namespace corozk::detail {

void semaphore_rule::blockers(ahead_of& ahead,
                              const line_entry& me,
                              std::vector<const line_entry*>& out) const {
    std::int64_t sum = me.weight;
    while (const line_entry* e = ahead.next()) {
        sum += e->weight;
        out.push_back(e);
        if (sum > ahead.limit)
            return;
    }
    out.clear();
}

const semaphore_rule& the_semaphore_rule() noexcept {
    static const semaphore_rule rule;
    return rule;
}

std::int32_t free_permits(const std::vector<contender_info>& line, std::int32_t limit) noexcept {
    std::int64_t taken = 0;
    for (const contender_info& c : line)
        taken += c.weight;
    return static_cast<std::int32_t>(std::max<std::int64_t>(limit - taken, 0));
}

}  // namespace corozk::detail
