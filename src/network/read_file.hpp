// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace corozk::detail {

/// The content of a small file, of at most 16 MiB, which may be secret: programs that another thread
/// starts meanwhile do not inherit the descriptor. Blocks for a second at the most if it is a pipe.
/// @param problem why it cannot be read, in words; unchanged otherwise
std::string read_file(const std::string& path, std::string& problem);

}  // namespace corozk::detail
