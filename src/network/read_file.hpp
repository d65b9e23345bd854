// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace corozk::detail {

/// The content of a small file, of at most 16 MiB, which may be secret: programs that another thread
/// starts meanwhile do not inherit the descriptor.
/// @param problem   why it cannot be read, in words; unchanged otherwise
/// @param patience  how long it waits for the writer of a pipe
std::string read_file(const std::string& path,
                      std::string& problem,
                      std::chrono::milliseconds patience = std::chrono::seconds(1));

}  // namespace corozk::detail
