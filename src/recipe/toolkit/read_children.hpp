// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/task.hpp"
#include "recipe/toolkit/node_view.hpp"

#include <map>
#include <string>

namespace corozk::detail {

/// Reads the children of a znode, all at once; those that are deleted meanwhile are left out. A missing
/// parent has none.
task<error_code> read_children(port& p,
                               std::string parent,
                               std::map<std::string, node_view>& found);

}  // namespace corozk::detail
