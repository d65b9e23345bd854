// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <algorithm>

namespace corozk::program {

std::size_t width_of(std::string_view text) {
    // Bytes that continue a character of UTF-8 need none.
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    }));
}

std::string table(const std::vector<table_row>& rows) {
    std::vector<std::size_t> widths;
    for (const table_row& row : rows) {
        widths.resize(row.size());
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], width_of(row[i]) + 2);
    }
    std::string text;
    for (const table_row& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += row[i];
            if (i + 1 < row.size())
                text.append(widths[i] - width_of(row[i]), ' ');
        }
        text += '\n';
    }
    return text;
}

}  // namespace corozk::program
