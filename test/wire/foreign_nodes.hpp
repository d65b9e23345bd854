// SPDX-License-Identifier: Apache-2.0
// Nodes as other programs leave them where ours should be.
#pragma once

#include <corozk/testing/admin.hpp>

#include <random>
#include <set>
#include <string>

namespace corozk::wire {

/// Data as other programs have it, and such as nearly is ours.
std::string foreign_data(std::mt19937_64& random);

/// Makes the node, or writes into the one that is there.
void plant_if_possible(testing::admin& hand, const std::string& path, const std::string& data);

/// Plants at and beside the paths `below` the folder, each beginning with a slash or empty.
void plant_near(testing::admin& hand,
                const std::string& folder,
                const std::set<std::string>& below,
                std::mt19937_64& random);

}  // namespace corozk::wire
