// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "result.hpp"
#include "safety/fault.hpp"
#include "safety/protection.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace corozk::bench {

/// What is wrong with a row; nothing if it is good.
/// @param stops to so many of the processes the fault has happened
std::vector<std::string> problems_of(const result& row,
                                     const protection& p,
                                     const fault& f,
                                     std::size_t stops);

}  // namespace corozk::bench
