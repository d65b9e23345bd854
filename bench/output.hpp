// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace corozk::bench {

/// To standard output, at once. @throws std::runtime_error if it is full, or nobody reads it any more
void say(std::string_view text);

/// To standard error, if that can be; a terminal that has gone is no reason to stop.
void remark(std::string_view text) noexcept;

}  // namespace corozk::bench
