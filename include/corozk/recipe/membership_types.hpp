// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

/** @brief A member of a group. */
struct member_info {
    member_info() = default;
    member_info(std::string name_, std::string data_)
        : name(std::move(name_)), data(std::move(data_)) {}

    std::string name;              ///< Unique within the group.
    std::string data;              ///< The member's data.
    std::int64_t session_id = 0;   ///< The member's session.
    std::int64_t incarnation = 0;  ///< Increases each time the name joins (the node's `czxid`).
};

/** @brief The difference to the members that were reported before. */
struct membership_change {
    membership_change() = default;
    std::vector<member_info> joined;   ///< New members, including those that left and rejoined.
    std::vector<member_info> left;     ///< Former members, including those that rejoined.
    std::vector<member_info> updated;  ///< Members whose data has changed.
    /// Whether there is no difference.
    bool empty() const noexcept { return joined.empty() && left.empty() && updated.empty(); }
};

}  // namespace corozk
