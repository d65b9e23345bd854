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
 * @brief A histogram of durations whose bucket bounds are powers of two of microseconds.
 *
 * Bucket `i` counts durations above `bound(i - 1)` and up to `bound(i)`; the last bucket is
 * unbounded. Adding a duration takes a few instructions and never allocates.
 */
class duration_histogram {
public:
    /// The bounds are 16 us, 32 us, ... 2^24 us (17 s), ... 2^30 us (18 min), and infinity.
    static constexpr std::size_t bucket_count = 28;

    /** @brief The bucket's upper bound, inclusive; the maximum duration for the last bucket. */
    static constexpr std::chrono::nanoseconds bound(std::size_t bucket) noexcept {
        if (bucket + 1 >= bucket_count)
            return std::chrono::nanoseconds::max();
        return std::chrono::microseconds(std::int64_t{1} << (bucket + first_power));
    }
    /// Counts a duration; negative ones count as zero.
    void add(std::chrono::nanoseconds duration) noexcept {
        auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, duration.count()));
        auto us = (ns + 999) / 1000;
        // Rounded up to a power of two.
        auto power = us <= 1 ? std::size_t{0} : static_cast<std::size_t>(std::bit_width(us - 1));
        std::size_t bucket = power <= first_power ? 0 : power - first_power;
        ++buckets_[std::min(bucket, bucket_count - 1)];
        ++count_;
        sum_ += std::chrono::nanoseconds(static_cast<std::int64_t>(ns));
    }

    /** @brief Number of durations in a bucket. */
    std::uint64_t operator[](std::size_t bucket) const noexcept { return buckets_[bucket]; }

    /** @brief Number of durations added. */
    std::uint64_t count() const noexcept { return count_; }

    /** @brief Sum of all durations. */
    std::chrono::nanoseconds sum() const noexcept { return sum_; }

    /** @brief The bound of the bucket that holds the given quantile, such as 0.99; 0 if empty. */
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
