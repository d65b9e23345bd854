// SPDX-License-Identifier: Apache-2.0
// What reads what others have written: names, paths, host lists, every node format, and frames.
#pragma once

#include <string_view>
#include <vector>

namespace corozk::fuzz {

/// Reads the input in one way, and ends the program if what comes out is not right.
struct target {
    std::string_view name;  ///< and the folder of its corpus
    void (*run)(std::string_view input);
};

const std::vector<target>& all_targets();

/// Null if there is none of that name.
const target* target_named(std::string_view name);

}  // namespace corozk::fuzz
