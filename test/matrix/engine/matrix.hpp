// SPDX-License-Identifier: Apache-2.0
// All cases of the fault matrix: which there are, running them, and the table.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

namespace corozk::matrix {

/// What is to be run.
struct request {
    request() = default;
    bool compact = false;
    std::string recipe;  ///< or recipe.scenario; empty means all
    std::string fault;   ///< empty means all
    std::string single;  ///< one case, as "recipe.scenario/fault/place"
    std::size_t repeat = 1;
    std::size_t threads = 4;
};

/// Runs what is wanted and prints the table. False if anything failed.
bool run_matrix(const request& wanted, std::ostream& out);

void print_list(std::ostream& out);

}  // namespace corozk::matrix
