// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"

#include <string>

namespace corozk::detail {

/// Deletes the node that exists at the beginning, regardless of its creator. If the response is
/// lost and the node was re-created since (czxid), the new one is not deleted.
/// @param erased whether there was a node
/// @return a permanent error
task<error_code> erase_one(port& p, std::string path, bool& erased);

}  // namespace corozk::detail
