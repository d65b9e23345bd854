// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/contender_info.hpp>

#include <string>
#include <vector>

namespace corozk {

/** @brief An edge of a wait-for graph. */
struct wait_edge {
    wait_edge() = default;

    std::string path;        ///< The path of the recipe.
    contender_info waiter;   ///< The waiting contender.
    contender_info blocker;  ///< The contender it waits for.
};

/** @brief A wait-for graph over several paths. */
struct wait_graph {
    wait_graph() = default;

    /// All edges. If one of several blockers is sufficient (a semaphore's permits), only the
    /// nearest 16; `deadlocks` considers all of them.
    std::vector<wait_edge> edges;

    /// One cycle for each group of participants that wait for each other: each edge's blocker is
    /// the next edge's waiter, the last one's is the first one's. Participants that wait for a
    /// cycle without being part of it are not included.
    std::vector<std::vector<wait_edge>> deadlocks;
};

}  // namespace corozk
