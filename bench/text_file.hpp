// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace corozk::bench {

/// Empty if it cannot be read.
std::string read_text(const std::filesystem::path& file);

/// @throws std::runtime_error
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace corozk::bench
