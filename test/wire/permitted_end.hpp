// SPDX-License-Identifier: Apache-2.0
// Where the C client alone decides: which lie may end the process, and how.
#pragma once

#include "wire_case.hpp"

#include <string>

namespace corozk::wire {

/// Whether a process that was lied to may have ended as its output says. The README of this folder says
/// why; anything else is a failure.
bool is_permitted_end(const wire_case& what, const std::string& output);

}  // namespace corozk::wire
