// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <algorithm>

namespace corozk::program {

namespace {

/// Bytes that continue a character of UTF-8 need no column.
bool begins_character(char c) noexcept {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

void shorten(std::string& cell) {
    constexpr std::size_t most = 200;
    constexpr std::string_view sign = "...";
    if (cut(cell, most).size() == cell.size())
        return;
    cell.resize(cut(cell, most - sign.size()).size());
    cell += sign;
}

}  // namespace

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string_view cut(std::string_view text, std::size_t columns) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (begins_character(text[i]) && columns-- == 0)
            return text.substr(0, i);
    }
    return text;
}

std::string table(std::vector<table_row> rows) {
    std::vector<std::size_t> widths;
    for (table_row& row : rows) {
        widths.resize(row.size());
        for (std::size_t i = 0; i + 1 < row.size(); ++i) {
            shorten(row[i]);
            widths[i] = std::max(widths[i], width_of(row[i]) + 2);
        }
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
