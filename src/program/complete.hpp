// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace corozk::program {

class application;

/// What could be written in place of the last of these words: `corozk --complete WORD...`, for
/// shells. Asks the servers for paths, for a second at most.
std::vector<std::string> complete(application& known, const std::vector<std::string>& words);

}  // namespace corozk::program
