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
    std::string data;              ///< What the member says of itself.
    std::int64_t session_id = 0;   ///< of the member's session
    std::int64_t incarnation = 0;  ///< grows each time that the name joins (the node's czxid)
};

/** @brief What is different from what was told before. */
struct membership_change {
    membership_change() = default;
    std::vector<member_info> joined;   ///< new ones, and those that left and came back
    std::vector<member_info> left;     ///< as they were; also those that came back meanwhile
    std::vector<member_info> updated;  ///< the same members with other data
    /// Whether nothing is different.
    bool empty() const noexcept { return joined.empty() && left.empty() && updated.empty(); }
};

}  // namespace corozk
