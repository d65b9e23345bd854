// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/task.hpp"
#include "recipe/toolkit/node_view.hpp"

#include <map>
#include <string>

namespace corozk::detail {

/// Reads all children of a node concurrently, except those that are deleted in the meantime. None
/// if the parent does not exist.
task<error_code> read_children(port& p,
                               std::string parent,
                               std::map<std::string, node_view>& found);

}  // namespace corozk::detail
