// SPDX-License-Identifier: Apache-2.0
#include "compare/comparison.hpp"

#include <algorithm>

namespace corozk::bench {

void add_phase(result& r, const peer_phase& phase, const std::string& per, double units) {
    r.add("client_cpu_us_per_" + per, phase.client_cpu_seconds * 1e6 / units);
    if (phase.server_is_ours) {
        r.add("requests_per_" + per, phase.requests / units);
        r.add("notifications_per_" + per, phase.notifications / units);
        r.add("bytes_per_" + per, phase.bytes / units);
        r.add("server_cpu_us_per_" + per, phase.server_cpu_seconds * 1e6 / units);
    }
    if (phase.requests > 0)
        r.add("client_cpu_us_per_request", phase.client_cpu_seconds * 1e6 / phase.requests);
    r.set("threads", phase.threads);
}

void add_latencies(result& r, const peer_phase& phase, const std::string& key) {
    latencies all;
    for (const auto& time : phase.values.at("latencies_ns").as_array())
        all.add(time.to_number<double>() / 1e3);
    r.add(key + ".p50", all.p50());
    r.add(key + ".p99", all.p99());
    r.add(key + ".max", all.max());
    r.add(all);
}

std::vector<std::unique_ptr<comparison>> all_comparisons(const comparison_sizes& sizes) {
    std::vector<std::unique_ptr<comparison>> all;
    auto add = [&all](std::unique_ptr<comparison> c) { all.push_back(std::move(c)); };
    auto capped = [&sizes](std::size_t size) { return std::min(size, sizes.at_most); };
    auto add_handover = [&](const char* recipe, std::size_t waiters, std::size_t sessions) {
        add(compare_handover(recipe, capped(waiters), capped(sessions), sizes));
    };
    add(compare_uncontended(capped(sizes.operations)));
    std::size_t largest = *std::max_element(sizes.waiters.begin(), sizes.waiters.end());
    for (std::size_t waiters : sizes.waiters)
        add_handover("lock", waiters, 1);
    std::size_t some = std::min<std::size_t>(largest, sizes.sessions);
    add_handover("lock", some, some);
    if (largest > some)
        add_handover("lock", std::min<std::size_t>(largest, 1'000), some);
    for (std::size_t waiters : sizes.waiters) {
        if (waiters >= 100 && waiters <= 1'000)
            add_handover("election", waiters, 1);
    }
    std::size_t few = std::min<std::size_t>(largest, 100);
    add_handover("shared_lock", few, 1);
    add_handover("semaphore", few, 1);
    add(compare_barrier(capped(sizes.members), 1));
    add(compare_queue(capped(sizes.items), 1));
    add(compare_queue(capped(sizes.items), std::min<std::size_t>(sizes.items, 20)));
    add(compare_acknowledged_queue(capped(sizes.acknowledged_items)));
    add(compare_counter(1, false, capped(sizes.operations)));
    add(compare_counter(16, false, capped(sizes.operations)));
    add(compare_counter(16, true, capped(sizes.operations)));
    add(compare_cache(capped(std::max<std::size_t>(sizes.operations / 2, 10))));
    for (std::size_t waiters : sizes.most)
        add(compare_joining(capped(waiters)));
    return all;
}

}  // namespace corozk::bench
