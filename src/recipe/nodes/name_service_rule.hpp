// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/toolkit/node_view.hpp"
#include <corozk/recipe/name_service_types.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace corozk::detail {

// Name service: the data of root/<name> is the name's value; each component of a name is a node.
//
// Invariants:
//   * A node without data is a parent (a container, which the server does not report) and not a
//     name. So values are not empty, and a parent cannot become a name, as it is deleted with its
//     last child.
//   * Registration is idempotent: it is repeated after a lost response, and a name that already has
//     the value counts as registered.
//   * A session-bound name is kept by toolkit/kept_node: re-created until it is unregistered.
//   * `unregister` deletes the node that existed when it started, and no later one
//     (toolkit/delete_exact).

/// The path of a name's node; nothing if the name is invalid.
std::optional<std::string> name_path(std::string_view root, std::string_view name);

name_entry describe_name(std::string_view name, const node_view& view);

enum class register_step : std::uint8_t { done, replace, taken };

/// What registration does about an existing node.
register_step decide_register(const node_view& found,
                              std::string_view value,
                              bool replace) noexcept;

}  // namespace corozk::detail
