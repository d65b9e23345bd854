// SPDX-License-Identifier: Apache-2.0
#include "compare/round_trips.hpp"

#include <algorithm>

namespace corozk::bench {

operation_times times_of(const std::vector<comparison_part>& parts,
                         const std::vector<compared>& entries) {
    operation_times times;
    for (const compared& e : entries) {
        if (!e.failure.empty())
            continue;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            std::optional<double> time;
            if (double value = e.rows[i].last(parts[i].key); e.rows[i].has(parts[i].key))
                time = parts[i].is_rate ? 1e6 / value : value;
            times[e.implementation].push_back(time);
        }
    }
    return times;
}

void add_round_trips(std::vector<compared>& entries,
                     const operation_times& near,
                     const operation_times& far) {
    constexpr double added = std::chrono::microseconds(distance).count();
    for (compared& e : entries) {
        auto here = near.find(e.implementation);
        auto there = far.find(e.implementation);
        if (!e.failure.empty() || here == near.end() || there == far.end())
            continue;
        for (std::size_t i = 0; i < e.rows.size(); ++i) {
            auto less = here->second[i];
            auto more = there->second[i];
            if (less && more)
                e.rows[i].add("round_trips", std::max(0.0, *more - *less) / added);
        }
    }
}

}  // namespace corozk::bench
