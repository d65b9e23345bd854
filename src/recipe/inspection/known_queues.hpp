// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/task.hpp"
#include "recipe/toolkit/inner_call.hpp"
#include <corozk/detail/recipe/contention_recipe.hpp>

#include <memory>
#include <string>
#include <vector>

namespace corozk::detail {

/// A recipe that may use a path.
using known_queue = std::shared_ptr<contention_recipe>;

/// All recipes with contenders, in every format; the names of the nodes determine which one is
/// used.
std::vector<known_queue> known_queues_at(const client& c, const std::string& path);

/// The recipe that recognises most of the nodes at a path.
struct found_queue {
    std::vector<contender_info> contenders;
    known_queue recipe;  ///< null without contenders
};

/// Lists the contenders as each of the recipes would, after a `sync`.
task<error_code> recognise(port& p,
                           const std::string& path,
                           const std::vector<known_queue>& recipes,
                           found_queue& found);

}  // namespace corozk::detail
