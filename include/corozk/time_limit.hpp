// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace corozk {

/**
 * @brief How long an operation may take: any duration, or until a deadline.
 *
 * Durations that exceed the range of the clock, such as `std::chrono::hours::max()`, mean no limit;
 * negative ones have already elapsed.
 *
 * @par Deadlines of all operations
 * A deadline (`..._until`) or time limit (`..._for`) covers the whole operation regardless of the
 * servers, even without a connection or a response. Unless the operation has succeeded by then, it
 * completes with `errc::deadline_exceeded`, and what it has begun ends as after a cancellation: what
 * it acquires or announces is undone, reliably and as soon as the connection permits, so nodes of
 * the operation may remain visible briefly; changes and deletions are continued or may be applied,
 * as documented there. Operations document deviations.
 */
class time_limit {
public:
    using clock = std::chrono::steady_clock;  ///< The clock of deadlines.
    using duration = clock::duration;         ///< The type of limits.
    using time_point = clock::time_point;     ///< The type of deadlines.

    /** @brief Implicit, to allow `acquire_for(500ms)`. */
    template <class Rep, class Period>
    constexpr time_limit(std::chrono::duration<Rep, Period> length) noexcept  // NOLINT
        : length_(saturated(length)) {}

    /** @brief A fixed deadline, regardless of when the operation starts. */
    constexpr time_limit(time_point deadline) noexcept  // NOLINT
        : length_(duration::max()), deadline_(deadline) {}

    /** @brief No limit. */
    static constexpr time_limit for_ever() noexcept { return duration::max(); }

    constexpr duration length() const noexcept { return length_; }  ///< Never negative.

    /** @brief The deadline of an operation that starts at `begin`; `time_point::max()` if none. */
    constexpr time_point from(time_point begin) const noexcept {
        return length_ >= time_point::max() - begin ? deadline_ : begin + length_;
    }

    /** @brief The deadline of an operation that starts now. */
    time_point from_now() const noexcept { return from(clock::now()); }

private:
    template <class Rep, class Period>
    static constexpr duration saturated(std::chrono::duration<Rep, Period> length) noexcept {
        using wide = std::chrono::duration<long double, duration::period>;
        if (!(wide(length) < wide(duration::max())))
            return duration::max();
        if (wide(length) < wide::zero())
            return duration::zero();
        return std::chrono::duration_cast<duration>(length);
    }

    duration length_;
    time_point deadline_ = time_point::max();  ///< if it is fixed
};

}  // namespace corozk
