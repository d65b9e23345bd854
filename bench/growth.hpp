// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace corozk::bench {

/// What a process occupied, the least of each in a part of the time.
struct occupancy {
    double heap_bytes = 0;
    double resident_bytes = 0;
    std::size_t descriptors = 0;
    std::size_t threads = 0;
};

/// The least of each.
occupancy least_of(const occupancy& a, const occupancy& b);

/// So many samples are needed to say whether something grows.
inline constexpr std::size_t least_samples = 8;

/// What grows, in words; empty if nothing does. Something grows if in the last quarter of the time it is
/// always more than it was at any time in the second quarter (memory: by more than one per cent). The first
/// quarter is left out: caches fill, and the largest latency so far needs a longer table.
std::string growth(std::span<const occupancy> samples);

}  // namespace corozk::bench
