// SPDX-License-Identifier: Apache-2.0
#include "recipe/lock_algo.hpp"

namespace corozk::detail {

void exclusive_rule::blockers(ahead_of& ahead,
                              const line_entry&,
                              std::vector<const line_entry*>& out) const {
    if (const line_entry* nearest = ahead.next())
        out.push_back(nearest);
}

const exclusive_rule& the_exclusive_rule() noexcept {
    static const exclusive_rule rule;
    return rule;
}

}  // namespace corozk::detail
