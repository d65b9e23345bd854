// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/wire_lie.hpp"

#include <random>
#include <string>

namespace corozk::testing::detail {

/** An answer, or the answer to a connect request, whose form is wrong. */
std::string spoilt_frame(wire_lie lie, std::string bytes, std::mt19937_64& random);

}  // namespace corozk::testing::detail
