// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace corozk::detail {

/// What one acquisition asks for.
struct acquire_request {
    std::uint8_t kind = 0;  ///< such as reading or writing
    bool try_only = false;  ///< fail with `would_block` instead of waiting
    std::int32_t weight = 1;
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

}  // namespace corozk::detail
