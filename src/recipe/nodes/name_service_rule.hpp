// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/toolkit/node_view.hpp"
#include <corozk/recipe/name_service_types.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace corozk::detail {

// Name service: root/<name> holds the name's value; a name's parts are nodes.
//
// Invariants:
//   * A node without data is a folder (a container, but the server does not show that), and no
//     name; so values are not empty, and a folder cannot become a name: it goes with its last
//     child.
//   * Registering is idempotent: a lost answer is repeated, and a name that has the value already
//     is as good as registered now.
//   * A session-bound name is kept by toolkit/kept_node: made again for as long as it is wanted.
//   * Unregistering erases the node that was there when it began, and no later one
//     (toolkit/delete_exact).

/// The path of a name's node; nothing if it cannot be one.
std::optional<std::string> name_path(std::string_view root, std::string_view name);

name_entry describe_name(std::string_view name, const node_view& view);

enum class register_step : std::uint8_t { done, replace, taken };

/// What to do about a node that is there already.
register_step decide_register(const node_view& found,
                              std::string_view value,
                              bool replace) noexcept;

}  // namespace corozk::detail
