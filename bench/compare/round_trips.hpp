// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compare/comparison.hpp"
#include "compare/comparison_run.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace corozk::bench {

/// How much later each response arrives at a distance.
inline constexpr std::chrono::milliseconds distance{5};

/// How many operations are enough to see the difference.
inline constexpr std::size_t few_operations = 50;

/// Microseconds for an operation, by implementation; one for each part, nothing where no time was taken.
/// Without those that failed.
using operation_times = std::map<std::string, std::vector<std::optional<double>>>;

operation_times times_of(const std::vector<comparison_part>& parts,
                         const std::vector<compared>& entries);

/// How often an operation waits for the server: what it takes longer at a distance, divided by the
/// distance. Operations that share a round trip have a part of it each.
void add_round_trips(std::vector<compared>& entries,
                     const operation_times& near,
                     const operation_times& far);

}  // namespace corozk::bench
