// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/task.hpp"
#include "recipe/toolkit/inner_call.hpp"
#include <corozk/client.hpp>
#include <corozk/detail/contention_recipe.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace corozk::detail {

/// One recipe that may be at home at a path, with its operations for onlookers.
struct known_queue {
    std::function<void(inner_call<std::vector<contender_info>>&)> list;
    std::function<void(std::string, inner_call<>&)> break_one;
    std::function<void(std::string, time_limit, inner_call<bool>&)> insist;
};

/// Every recipe that queues, in every naming: which of them is at home at the path is told by the
/// names of the nodes there.
std::vector<known_queue> known_queues_at(const client& c, const std::string& path);

/// What is at a path: the recipe that recognises most of the nodes there.
struct found_queue {
    std::vector<contender_info> contenders;
    const known_queue* recipe = nullptr;  ///< one of those given; null where nobody is
};

/// Reads the folder as each of the recipes would, after a `sync`.
task<error_code> recognise(port& p,
                           const std::string& path,
                           const std::vector<known_queue>& recipes,
                           found_queue& found);

}  // namespace corozk::detail
