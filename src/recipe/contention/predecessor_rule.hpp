// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/contention_rule.hpp"

namespace corozk::detail {

/// The exclusive lock: who is first holds it. Everybody waits for the nearest one ahead, so that a
/// release wakes one contender and no herd. (Recipes page, "Locks".)
class exclusive_rule final : public contention_rule {
public:
    void blockers(ahead_of& ahead,
                  const contention_entry& me,
                  std::vector<const contention_entry*>& out) const override;
    std::vector<blocking_range> blocking_ranges(const std::vector<contention_entry>& line,
                                                std::int32_t limit) const override;
};

const exclusive_rule& the_exclusive_rule() noexcept;

}  // namespace corozk::detail
