// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace corozk {

/**
 * @brief When an item may be taken: a point in time, or a delay from the put. Milliseconds; fractions
 *        count as a whole one.
 *
 * Made from any duration and any time of the system clock: `queue.put("later", 5min)`. What lies
 * before 1970 counts as 1970, and what lies after November 2286 as then.
 */
class due_time {
public:
    /** @brief A point in time. */
    template <class Duration>
    due_time(std::chrono::time_point<std::chrono::system_clock, Duration> at) noexcept
        : milliseconds_(rounded_up(at.time_since_epoch())) {}

    /** @brief A delay; a negative one is none. */
    template <class Rep, class Period>
    due_time(std::chrono::duration<Rep, Period> delay) noexcept
        : milliseconds_(std::max<std::int64_t>(rounded_up(delay), 0)), is_delay_(true) {}

    bool is_delay() const noexcept { return is_delay_; }  ///< Whether it counts from the put.
    std::int64_t milliseconds() const noexcept {
        return milliseconds_;
    }  ///< Since 1970, or a delay.

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
