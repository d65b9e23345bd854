// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// The options that the command takes in this program.
std::vector<std::string_view> accepted_options(const program& p, const command& c);

/// What the last of these words may become, sorted; for the shells' completion, which is that of the
/// program `corozk` (src/program/completion). None where a file's name is wanted.
std::vector<std::string> complete(const program& p, std::span<const std::string_view> words);

}  // namespace corozk::bench
