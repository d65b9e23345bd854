// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"

#include <cstdint>
#include <string>

namespace corozk::detail {

/// A random number from 0 to `end` - 1, derived from a GUID.
inline std::uint32_t random_below(port& p, std::uint32_t end) {
    return static_cast<std::uint32_t>(std::stoul(p.new_guid().substr(0, 8), nullptr, 16)) % end;
}

}  // namespace corozk::detail
