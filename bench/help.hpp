// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"

#include <span>
#include <string>

namespace corozk::bench {

/// @param program the name of the program that has these commands
std::string general_help(std::string_view program, std::span<const command> commands);
std::string command_help(const command& c);

/// Breaks a text into lines, each with this many spaces in front.
std::string wrapped(std::string_view text, std::size_t indent = 0);

}  // namespace corozk::bench
