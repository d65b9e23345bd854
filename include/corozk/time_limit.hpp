// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace corozk {

/**
 * @brief How long an operation may take: any duration.
 *
 * What is longer than the clock can count means for ever, such as `std::chrono::hours::max()`; what
 * is negative means that the time is over.
 *
 * @par Deadlines of all operations
 * A deadline (`..._until`) and a time limit (`..._for`) hold for the whole operation, whatever the
 * servers do: also while there is no connection, or one on which nothing is answered. At the
 * deadline the operation completes with `errc::deadline_exceeded`, unless it has succeeded before.
 * What it has begun is undone afterwards, as soon as the connection allows and for certain; what
 * was granted too late is given back. So a node of the operation may be seen for a moment after it
 * has failed. Where an operation documents another error, or what cannot be undone, that holds.
 */
class time_limit {
public:
    using clock = std::chrono::steady_clock;  ///< Of deadlines.
    using duration = clock::duration;         ///< Of the limit.
    using time_point = clock::time_point;     ///< Of a deadline.

    /** @brief Implicit: `acquire_for(500ms)`. */
    template <class Rep, class Period>
    constexpr time_limit(std::chrono::duration<Rep, Period> length) noexcept  // NOLINT
        : length_(saturated(length)) {}

    /** @brief No limit. */
    static constexpr time_limit for_ever() noexcept { return duration::max(); }

    /** @brief Up to a moment, whenever what it limits begins. */
    static constexpr time_limit until(time_point deadline) noexcept {
        time_limit limit = for_ever();
        limit.deadline_ = deadline;
        return limit;
    }

    constexpr duration length() const noexcept { return length_; }  ///< Not negative.

    /** @brief The deadline for what begins then; `time_point::max()` means never. */
    constexpr time_point from(time_point begin) const noexcept {
        return length_ >= time_point::max() - begin ? deadline_ : begin + length_;
    }

    /** @brief The deadline for what begins now. */
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
    time_point deadline_ = time_point::max();  ///< of a limit without a length
};

}  // namespace corozk
