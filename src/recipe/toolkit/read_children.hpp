// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/task.hpp"
#include "recipe/toolkit/node_view.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace corozk::detail {

/// Reads the children of a node concurrently, or those that are `wanted`, except those that are
/// deleted in the meantime. None if the parent does not exist. As `read_forward`.
task<error_code> read_children(port& p,
                               std::string parent,
                               std::map<std::string, node_view>& found,
                               std::function<bool(std::string_view name)> wanted = {});

}  // namespace corozk::detail
