// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/backoff.hpp"

#include <algorithm>

namespace corozk::detail {

namespace {

/// Further failures do not extend pauses.
constexpr unsigned most_failures = 16;
constexpr std::chrono::nanoseconds longest_pause = std::chrono::milliseconds(50);

}  // namespace

void backoff::failed() noexcept {
    failures_ = std::min(failures_ + 1, most_failures);
}

void backoff::succeeded() noexcept {
    if (failures_ > 0)
        --failures_;
}

void backoff::measured(std::chrono::nanoseconds round_trip) noexcept {
    // A slow one alone says little.
    round_trip_ = (round_trip_ * 7 + std::min(round_trip, round_trip_ * 2)) / 8;
}

bool backoff::gives_way(port& p) const {
    return p.random_below(1024) * (std::min(failures_, 3U) + 1) >= 1024;
}

steady_clock::duration backoff::time_of(unsigned round_trips) const {
    return std::chrono::duration_cast<steady_clock::duration>(
        std::min(round_trip_ * round_trips, longest_pause));
}

steady_clock::duration backoff::random_delay(port& p, unsigned round_trips) const {
    return time_of(round_trips) * p.random_below(1024) / 1024;
}

}  // namespace corozk::detail
