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
            double value = e.rows[i].last(parts[i].key);
            times[e.implementation].push_back(parts[i].is_rate ? 1e6 / value : value);
        }
    }
    return times;
}

boost::asio::awaitable<operation_times> time_once(job& j,
                                                  client& observer,
                                                  comparison& few,
                                                  std::deque<contender>& peers) {
    comparison_run run(j, observer, few, peers, 1);
    co_await run.run();
    co_return times_of(run.parts(), run.entries());
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
        for (std::size_t i = 0; i < e.rows.size(); ++i)
            e.rows[i].add("round_trips", std::max(0.0, there->second[i] - here->second[i]) / added);
    }
}

}  // namespace corozk::bench
