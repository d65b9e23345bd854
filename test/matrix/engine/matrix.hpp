// SPDX-License-Identifier: Apache-2.0
// All cases of the fault matrix: which there are, running them, and the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace corozk::matrix {

/// Which places of each cell are played.
enum class extent : std::uint8_t {
    full,      ///< all of them
    compact,   ///< a few
    requests,  ///< all requests where at_every_request.cpp says so, and after each handler
};

/// What is to be run.
struct request {
    request() = default;
    extent places = extent::full;
    std::string recipe;  ///< or recipe.scenario; empty means all
    std::string fault;   ///< empty means all
    std::string single;  ///< one case, as "recipe.scenario/fault/place"
    std::size_t repeat = 1;
    std::size_t threads = 4;
    bool tls = false;
};

/// Runs what is wanted and prints the table. False if anything failed.
bool run_matrix(const request& wanted, std::ostream& out);

void print_list(std::ostream& out);

}  // namespace corozk::matrix
