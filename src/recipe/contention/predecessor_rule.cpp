// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/predecessor_rule.hpp"

namespace corozk::detail {

void exclusive_rule::blockers(ahead_of& ahead,
                              const contention_entry&,
                              std::vector<const contention_entry*>& out) const {
    if (const contention_entry* nearest = ahead.next())
        out.push_back(nearest);
}

std::vector<blocking_range> exclusive_rule::blocking_ranges(
    const std::vector<contention_entry>& line,
    std::int32_t) const {
    std::vector<blocking_range> sections(line.size());
    for (std::size_t i = 1; i < line.size(); ++i)
        sections[i] = {i - 1, 1};
    return sections;
}

const exclusive_rule& the_exclusive_rule() noexcept {
    static const exclusive_rule rule;
    return rule;
}

}  // namespace corozk::detail
