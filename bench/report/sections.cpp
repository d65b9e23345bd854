// SPDX-License-Identifier: Apache-2.0
#include "report/section.hpp"

#include <algorithm>
#include <array>

namespace corozk::bench {

std::span<const section> all_sections() {
    static const std::array sections{
        handover_section(),    herd_section(),          load_section(),
        endure_section(),      semaphore_section(),     judge_section(),
        many_section(),        demo_section(),          join_section(),
        queue_section(),       counter_section(),       barrier_section(),
        paper_section(),       paper_recipes_section(), paper_herd_section(),
        paper_locks_section(), cache_section(),         two_phase_commit_section(),
        sizing_section(),      systems_section(),       safety_section(),
        floor_section(),       uncontended_section(),   ops_section(),
        network_section(),     stall_section(),         watch_section(),
    };
    return sections;
}

const section* find_section(std::string_view workload) {
    auto all = all_sections();
    auto at = std::find_if(
        all.begin(), all.end(), [&](const section& s) { return s.workload == workload; });
    return at == all.end() ? nullptr : &*at;
}

}  // namespace corozk::bench
