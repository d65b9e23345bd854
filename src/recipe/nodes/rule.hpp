// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/toolkit/node_view.hpp"
#include <corozk/compatibility.hpp>
#include <corozk/recipe/membership_types.hpp>
#include <corozk/recipe/name_service_types.hpp>
#include <corozk/recipe/rendezvous_types.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace corozk::detail {

// Members, names and rendezvous points: nodes whose data is the value.
//
// Invariants of all three:
//   * A session-bound node is re-created until its owner gives it up (toolkit/kept_node).
//   * Observers get the difference between two states read from the server, the first one being the
//     one reported before: nothing is derived from events. A node with another czxid is another
//     one. Identical data that was written again, as after a lost response, is not a difference.

// Group membership: <path>/<name> is an ephemeral node with the member's data; other children are
// ignored, as are those without the suffix of Kazoo's Party in its format. A member is one
// incarnation of a name: one that was replaced during an outage is reported as having left and
// joined.

using member_map = std::map<std::string, member_info, std::less<>>;

/// The name of a member's node.
std::string member_node(compatibility whose, std::string_view name);

/// The name of the member with this node; nothing for other nodes.
std::optional<std::string_view> member_of_node(compatibility whose, std::string_view node) noexcept;

member_info describe_member(const std::string& name, const node_view& view);

/// The difference between `known` and `current`.
membership_change compute_change(const member_map& known, const member_map& current);

// Name service: the data of root/<name> is the name's value; each component of a name is a node.
//
//   * A node without data is a parent (a container, which the server does not report) and not a
//     name. So values are not empty, and a parent cannot become a name, as it is deleted with its
//     last child.
//   * Registration is idempotent: it is repeated after a lost response, and a name that already has
//     the value counts as registered.
//   * `unregister` deletes the node that existed when it started, and no later one
//     (`erase_one` in toolkit/background_deleter).

/// The path of a name's node; nothing if the name or the root is invalid.
std::optional<std::string> name_path(std::string_view root, std::string_view name);

name_entry describe_name(std::string_view name, const node_view& view);

enum class register_step : std::uint8_t { done, replace, taken };

/// What registration does about an existing node.
register_step decide_register(const node_view& found,
                              std::string_view value,
                              bool replace) noexcept;

/// Rendezvous: an ephemeral node with the publisher's data, which others follow.
rendezvous_point describe_point(const node_view& view);

}  // namespace corozk::detail
