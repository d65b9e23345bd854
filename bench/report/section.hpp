// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/category_plots.hpp"
#include "report/column.hpp"
#include "report/number_plots.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// What the page says of the rows of one command.
struct section {
    std::string_view workload;
    std::string_view heading;
    std::string_view question;  ///< what was asked
    std::string_view method;    ///< how it was measured
    std::string_view reading;   ///< what to read off
    std::vector<std::string_view> labels = {"recipe", "operation", "case"};
    std::vector<column> columns = {};  ///< none: the common ones
    std::vector<by_number> lines = {};
    std::vector<by_category> bars = {};
};

std::span<const section> all_sections();

/// Null if nothing is known of such rows.
const section* find_section(std::string_view workload);

section handover_section();
section herd_section();
section load_section();
section endure_section();
section semaphore_section();
section judge_section();
section many_section();
section demo_section();
section join_section();
section queue_section();
section counter_section();
section barrier_section();
section paper_section();
section paper_recipes_section();
section paper_herd_section();
section paper_locks_section();
section cache_section();
section two_phase_commit_section();
section sizing_section();
section systems_section();
section safety_section();
section floor_section();
section uncontended_section();
section ops_section();
section network_section();
section stall_section();
section watch_section();

}  // namespace corozk::bench
