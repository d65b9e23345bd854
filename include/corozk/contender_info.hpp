// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/path_list.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace corozk {

/** @brief A holder or waiter of a recipe, as recorded at the server. */
struct contender_info {
    contender_info() = default;

    std::string path;                ///< Its node.
    std::string kind;                ///< Such as "lock", "read" or "write".
    bool holds = false;              ///< Whether it holds, according to the order of the nodes.
    std::int32_t weight = 1;         ///< Number of permits.
    std::int32_t priority = 0;       ///< Lower numbers first; 0 in recipes without priorities.
    std::int32_t sequence = 0;       ///< Sequence number of its node.
    std::int64_t session_id = 0;     ///< The session that owns its node.
    std::int64_t fencing_token = 0;  ///< See `ownership::fencing_token`.
    std::string data;                ///< Data of its node.
    std::chrono::system_clock::time_point since;  ///< Creation time, by the server's clock.
    path_list waits_for;                          ///< The nearest nodes that block it.
};

}  // namespace corozk
