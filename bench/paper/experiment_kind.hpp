// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace corozk::bench {

/// A publication whose experiments `paper` plays again.
struct publication {
    std::string_view reference;
    /// What it says of its results, as far as its text could be read; figures only if they are in
    /// that text.
    std::string_view claim;
};

struct experiment_kind {
    std::string_view name;
    const publication* by;
};

/// In the order of their publications.
std::span<const experiment_kind> all_experiments();

/// @throws std::logic_error if there is none of this name
const experiment_kind& find_experiment(std::string_view name);

}  // namespace corozk::bench
