// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/recipe/membership_types.hpp>
#include <corozk/types.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace corozk::detail {

// Group membership.
//
//   <path>/<name>   an ephemeral node with the member's data; other children are ignored
//
// Invariants:
//   * A member's node is re-created until it leaves (toolkit/kept_node).
//   * An observer gets the difference between two states read from the server, the first one being
//     the one reported before: nothing is derived from events.
//   * A member is one incarnation of a name: a node with another czxid is another member. So a
//     member that was replaced during an outage is reported as having left and joined.
//   * Identical data that was written again, as after a lost response, is not a difference.

struct member_state {
    member_state() = default;
    member_state(const stat& record, std::string data_)
        : czxid(record.czxid), owner(record.ephemeral_owner), data(std::move(data_)) {}

    std::int64_t czxid = 0;
    std::int64_t owner = 0;
    std::string data;
};

using member_map = std::map<std::string, member_state, std::less<>>;

/// Whether a child is a member: ephemeral, and not a container or TTL node, which have a marker in
/// the same field.
bool is_member_node(const stat& record) noexcept;

/// The difference between `known` and `current`.
membership_change compute_change(const member_map& known, const member_map& current);

}  // namespace corozk::detail
