// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace corozk {

/**
 * @brief The due time of an item: a point in time, or a delay from the put, rounded up to
 *        milliseconds.
 *
 * Implicitly constructed from any duration or time of the system clock: `queue.put("later", 5min)`.
 * Clamped to the range from 1970 to November 2286.
 */
class due_time {
public:
    /** @brief A point in time. */
    template <class Duration>
    due_time(std::chrono::time_point<std::chrono::system_clock, Duration> at) noexcept
        : milliseconds_(rounded_up(at.time_since_epoch())) {}

    /** @brief A delay; negative ones count as zero. */
    template <class Rep, class Period>
    due_time(std::chrono::duration<Rep, Period> delay) noexcept
        : milliseconds_(std::max<std::int64_t>(rounded_up(delay), 0)), is_delay_(true) {}

    bool is_delay() const noexcept { return is_delay_; }  ///< Whether it is relative to the put.

    /// The time since 1970, or the delay.
    std::int64_t milliseconds() const noexcept { return milliseconds_; }

private:
    static std::int64_t rounded_up(std::chrono::duration<long double, std::milli> length) noexcept {
        constexpr long double most = 1e15L;
        if (!(length.count() > -most))
            return -static_cast<std::int64_t>(most);
        return static_cast<std::int64_t>(std::ceil(std::min(length.count(), most)));
    }

    std::int64_t milliseconds_ = 0;
    bool is_delay_ = false;
};

}  // namespace corozk
