// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace corozk {

/**
 * @brief How often something took how long: counts by powers of two of microseconds.
 *
 * Bucket `i` counts what took more than `bound(i - 1)` and at most `bound(i)`; the last bucket has
 * no bound. Adding costs a few instructions; nothing is allocated.
 */
class duration_histogram {
public:
    /// 16 us, 32 us, ... 2^24 us (17 s), ... 2^30 us (18 min), and above.
    static constexpr std::size_t bucket_count = 28;

    /** @brief The longest duration that a bucket counts; for the last one, the longest there is. */
    static constexpr std::chrono::nanoseconds bound(std::size_t bucket) noexcept {
        if (bucket + 1 >= bucket_count)
            return std::chrono::nanoseconds::max();
        return std::chrono::microseconds(std::int64_t{1} << (bucket + first_power));
    }
    /// Counts one.
    void add(std::chrono::nanoseconds duration) noexcept {
        auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, duration.count()));
        auto us = (ns + 999) / 1000;
        // The power of two that is not less.
        auto power = us <= 1 ? std::size_t{0} : static_cast<std::size_t>(std::bit_width(us - 1));
        std::size_t bucket = power <= first_power ? 0 : power - first_power;
        ++buckets_[std::min(bucket, bucket_count - 1)];
        ++count_;
        sum_ += duration;
    }

    /** @brief How many durations the bucket has counted. */
    std::uint64_t operator[](std::size_t bucket) const noexcept { return buckets_[bucket]; }

    /** @brief How many durations were added. */
    std::uint64_t count() const noexcept { return count_; }

    /** @brief All of them together. */
    std::chrono::nanoseconds sum() const noexcept { return sum_; }

    /**
     * @brief The bound of the bucket below or in which the given part of all durations is, such as
     *        0.99 of them; 0 if there are none.
     */
    std::chrono::nanoseconds quantile(double part) const noexcept {
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < bucket_count; ++i) {
            seen += buckets_[i];
            if (seen > 0 && static_cast<double>(seen) >= part * static_cast<double>(count_))
                return bound(i);
        }
        return std::chrono::nanoseconds(0);
    }

private:
    static constexpr std::size_t first_power = 4;

    std::array<std::uint64_t, bucket_count> buckets_{};
    std::uint64_t count_ = 0;
    std::chrono::nanoseconds sum_{0};
};

}  // namespace corozk
