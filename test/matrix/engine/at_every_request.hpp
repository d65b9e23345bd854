// SPDX-License-Identifier: Apache-2.0
// What the default suite plays at every request.
#pragma once

#include "scenario.hpp"

namespace corozk::matrix {

/// Whether this fault is played at every request of this scenario even where time is short.
bool at_every_request(const scenario& s, fault f);

/// @throws std::logic_error if a row names no scenario
void check_rows_of_every_request();

}  // namespace corozk::matrix
