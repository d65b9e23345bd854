// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/wire_lie.hpp"

#include <optional>
#include <random>
#include <string>

namespace corozk::testing::detail {

/** What a lie puts in front of an answer; nothing if it is not of this kind. */
std::optional<std::string> invented_frame(wire_lie lie,
                                          const frame_info& frame,
                                          std::mt19937_64& random);

}  // namespace corozk::testing::detail
