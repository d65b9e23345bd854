// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/pending_call.hpp"
#include "driver/port.hpp"

#include <memory>
#include <string>

namespace corozk::detail {

/// Deletes a node and its descendants, children first, until the call is completed by the user or
/// here. Memory and requests in flight are bounded by one listing per level.
task<> erase_tree(port& p, std::string path, std::shared_ptr<pending_call<>> call);

}  // namespace corozk::detail
