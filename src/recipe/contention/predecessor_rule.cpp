// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/predecessor_rule.hpp"

namespace corozk::detail {

void exclusive_rule::blockers(ahead_of& ahead,
                              const line_entry&,
                              std::vector<const line_entry*>& out) const {
    if (const line_entry* nearest = ahead.next())
        out.push_back(nearest);
}

std::vector<line_section> exclusive_rule::blocking_sections(const std::vector<line_entry>& line,
                                                            std::int32_t) const {
    std::vector<line_section> sections(line.size());
    for (std::size_t i = 1; i < line.size(); ++i)
        sections[i] = {i - 1, 1};
    return sections;
}

const exclusive_rule& the_exclusive_rule() noexcept {
    static const exclusive_rule rule;
    return rule;
}

}  // namespace corozk::detail
