// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace corozk::detail {

/// The parameters of an acquisition.
struct acquire_request {
    using time_point = std::chrono::steady_clock::time_point;

    explicit acquire_request(std::uint8_t kind_ = 0, std::int32_t weight_ = 1) noexcept
        : kind(kind_), weight(weight_) {}

    acquire_request until(time_point when) const noexcept {
        acquire_request result = *this;
        result.deadline = when;
        return result;
    }
    acquire_request trying() const noexcept {
        acquire_request result = *this;
        result.try_only = true;
        return result;
    }

    std::uint8_t kind;      ///< such as reading or writing
    bool try_only = false;  ///< fail with `would_block` instead of waiting
    std::int32_t weight;
    time_point deadline = time_point::max();
};

}  // namespace corozk::detail
