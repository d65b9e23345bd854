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
    add(compare_uncontended(sizes.operations));
    std::size_t largest = *std::max_element(sizes.waiters.begin(), sizes.waiters.end());
    for (std::size_t waiters : sizes.waiters)
        add(compare_handover("lock", waiters, 1, sizes));
    std::size_t some = std::min<std::size_t>(largest, sizes.sessions);
    add(compare_handover("lock", some, some, sizes));
    if (largest > some)
        add(compare_handover("lock", std::min<std::size_t>(largest, 1'000), some, sizes));
    for (std::size_t waiters : sizes.waiters) {
        if (waiters >= 100 && waiters <= 1'000)
            add(compare_handover("election", waiters, 1, sizes));
    }
    std::size_t few = std::min<std::size_t>(largest, 100);
    add(compare_handover("shared_lock", few, 1, sizes));
    add(compare_handover("semaphore", few, 1, sizes));
    add(compare_barrier(sizes.members, 1));
    add(compare_queue(sizes.items, 1));
    add(compare_queue(sizes.items, std::min<std::size_t>(sizes.items, 20)));
    add(compare_acknowledged_queue(sizes.acknowledged_items));
    add(compare_counter(1, false, sizes.operations));
    add(compare_counter(16, false, sizes.operations));
    add(compare_counter(16, true, sizes.operations));
    add(compare_cache(std::max<std::size_t>(sizes.operations / 2, 10)));
    for (std::size_t waiters : sizes.most)
        add(compare_joining(waiters));
    return all;
}

}  // namespace corozk::bench
