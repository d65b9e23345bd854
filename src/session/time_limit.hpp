// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/operation.hpp"

#include <chrono>

namespace corozk::detail {

/// The end of a time limit, whose longest may mean "for ever": `time_point::max()` then, and where the
/// sum is more than a clock can show.
inline time_point end_of(std::chrono::milliseconds limit, time_point begin) noexcept {
    const auto left = std::chrono::floor<std::chrono::milliseconds>(time_point::max() - begin);
    return limit >= left ? time_point::max() : begin + limit;
}

}  // namespace corozk::detail
