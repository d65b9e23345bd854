// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"

#include <string>

namespace corozk::detail {

/// Erases the node that is there when it begins, whoever made it, and no other: when the answer is
/// lost and another node has come in its place meanwhile (czxid), that one stays.
/// @param erased whether there was a node
/// @return an error that asking again does not heal
task<error_code> erase_one(port& p, std::string path, bool& erased);

}  // namespace corozk::detail
