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
//   folder/<name>   an ephemeral node with the member's data; children of other kinds are ignored
//
// Invariants:
//   * A member's node is made again for as long as it is wanted (toolkit/kept_node).
//   * What an observer is told is always the difference between two states that were read from the
//     server, the first of them being what it was told before: nothing is derived from events.
//   * A member is one incarnation of a name: another czxid is another member, so that one that was
//     replaced in an outage is told as having left and come back.
//   * The same data written once more is no difference: a member whose answer was lost does that.

struct member_state {
    member_state() = default;
    member_state(const stat& record, std::string data_)
        : czxid(record.czxid), owner(record.ephemeral_owner), data(std::move(data_)) {}

    std::int64_t czxid = 0;
    std::int64_t owner = 0;
    std::string data;
};

using member_map = std::map<std::string, member_state, std::less<>>;

/// Whether a child of the folder is a member's node: ephemeral, and no container or TTL node (which
/// carry a marker in the same field).
bool is_member_node(const stat& record) noexcept;

/// What to tell somebody who knows `known`, now that `current` is the case.
membership_change compute_change(const member_map& known, const member_map& current);

}  // namespace corozk::detail
