// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/contender_info.hpp>

#include <string>
#include <vector>

namespace corozk {

/** @brief One contender waits for another one. */
struct wait_edge {
    wait_edge() = default;

    std::string path;        ///< of the lock (or semaphore, or election)
    contender_info waiter;   ///< Who waits.
    contender_info blocker;  ///< For whom.
};

/** @brief Who waits for whom, over several paths. */
struct wait_graph {
    wait_graph() = default;

    /// Who waits for whom. Where any of several would do (a semaphore's permits), the nearest 16; in
    /// `deadlocks` all of them count.
    std::vector<wait_edge> edges;

    /// Circles, one for each group of participants who wait for each other: every edge's blocker is
    /// the next edge's waiter, and the last one's is the first one's. Whoever waits for one of a
    /// circle without being waited for waits for ever, too, and is in none.
    std::vector<std::vector<wait_edge>> deadlocks;
};

}  // namespace corozk
