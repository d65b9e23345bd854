// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/path_list.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace corozk {

/** @brief Who holds something or waits for it, as the server knows it. */
struct contender_info {
    contender_info() = default;

    std::string path;                ///< its node
    std::string kind;                ///< such as "lock", "read", "write"
    bool holds = false;              ///< by the order of the nodes
    std::int32_t weight = 1;         ///< how many permits
    std::int32_t priority = 0;       ///< where there are priorities: the lower number comes first
    std::int32_t sequence = 0;       ///< its place
    std::int64_t session_id = 0;     ///< whose it is
    std::int64_t fencing_token = 0;  ///< Of its node.
    std::string data;                ///< what it said of itself
    std::chrono::system_clock::time_point since;  ///< by the server's clock
    path_list waits_for;                          ///< the paths of the nearest that block it
};

}  // namespace corozk
