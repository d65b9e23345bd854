// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/wire_lie.hpp"

#include <string>

namespace corozk::testing::detail {

/** An answer of the right form with other names, paths or numbers in it. */
std::string with_false_content(wire_lie lie, const frame_info& frame, const std::string& bytes);

}  // namespace corozk::testing::detail
