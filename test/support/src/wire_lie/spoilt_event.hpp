// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/wire_lie.hpp"

#include <string>

namespace corozk::testing::detail {

/** Something else in place of an event. */
std::string spoilt_event(wire_lie lie, const frame_info& frame, std::string bytes);

}  // namespace corozk::testing::detail
