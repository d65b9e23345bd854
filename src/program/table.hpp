// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::program {

using table_row = std::vector<std::string>;

/// Lines of columns that begin below each other. All rows have as many cells as the first one. Long cells
/// before the last column, for which all rows would be padded, are shortened, and end in "...".
std::string table(std::vector<table_row> rows);

/// How many columns of a terminal a text needs, if all its characters are narrow.
std::size_t width_of(std::string_view text);

/// As much of a text as these columns have room for.
std::string_view cut(std::string_view text, std::size_t columns);

}  // namespace corozk::program
