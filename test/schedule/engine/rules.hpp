// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace corozk::schedule {

/// What may happen, and how freely.
struct rules {
    rules() = default;

    /// Answers reach their clients at once: what differs then is the order at the servers, and what
    /// goes wrong when. Everything else is played only in random schedules.
    bool eager = true;

    int faults = 0;

    /// How often one client may be interrupted by another although it could go on; negative: always.
    int switches = -1;
};

}  // namespace corozk::schedule
