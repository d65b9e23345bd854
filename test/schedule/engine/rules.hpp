// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "move.hpp"

#include <vector>

namespace corozk::schedule {

/// What may happen, and how freely.
struct rules {
    rules() = default;

    /// Answers reach their clients at once: what differs then is the order at the servers, and what
    /// goes wrong when. Everything else is played only in random schedules.
    bool eager = true;

    int faults = 0;

    /// If there are any: each of these may happen once, and no others. All that can happen with two faults
    /// is what can happen with two cuts, or two expiries, or one of each, ...
    std::vector<move_kind> kinds{};

    /// How often one client may be interrupted by another although it could go on; negative: always.
    int switches = -1;
};

}  // namespace corozk::schedule
