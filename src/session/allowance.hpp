// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/operation.hpp"

#include <chrono>

namespace corozk::detail {

/// How long one part of a turn may last. Some is always done.
class allowance {
public:
    bool spent() noexcept {
        constexpr unsigned steps_between_looks = 16;
        return ++steps_ % steps_between_looks == 0 && steady_clock::now() >= end_;
    }

private:
    unsigned steps_ = 0;
    time_point end_ = steady_clock::now() + std::chrono::milliseconds(1);
};

}  // namespace corozk::detail
