// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace corozk::program {

class application;

/// The candidates for the last of these words: `corozk --complete WORD...`, for shells. Asks the
/// servers for paths.
std::vector<std::string> complete(application& known, const std::vector<std::string>& words);

}  // namespace corozk::program
