// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace corozk::bench {

namespace {

/// Columns, not bytes: everything that we write is ASCII or one column wide.
std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

}  // namespace

std::string table::str() const {
    std::vector<std::size_t> widths(head_.size());
    auto measure = [&](const std::vector<std::string>& row) {
        for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
            widths[i] = std::max(widths[i], width(row[i]));
        }
    };
    measure(head_);
    for (const auto& row : rows_)
        measure(row);
    std::string text;
    auto write = [&](const std::vector<std::string>& row) {
        std::string line;
        for (std::size_t i = 0; i < widths.size(); ++i) {
            std::string cell = i < row.size() ? row[i] : std::string();
            std::string padding(widths[i] - width(cell), ' ');
            line += i == 0 ? cell + padding : "  " + padding + cell;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    };
    write(head_);
    std::size_t total = 0;
    for (std::size_t w : widths)
        total += w + 2;
    text += std::string(total - 2, '-') + '\n';
    for (const auto& row : rows_)
        write(row);
    return text;
}

std::string count_text(double n) {
    std::string digits = fmt::format("{:.0f}", std::abs(n));
    for (std::size_t i = digits.size(); i > 3; i -= 3)
        digits.insert(i - 3, 1, ',');
    return n < 0 ? fmt::format("-{}", digits) : digits;
}

std::string count_text(std::size_t n) {
    return count_text(static_cast<double>(n));
}

std::string counted(std::size_t n, std::string_view what) {
    return fmt::format("{} {}{}",
                       count_text(n),
                       what,
                       n == 1                 ? ""
                       : what.ends_with("ch") ? "es"
                                              : "s");
}

std::string figure_text(double value) {
    double size = std::abs(value);
    if (size >= 1000)
        return count_text(value);
    if (size >= 100)
        return fmt::format("{:.0f}", value);
    if (size >= 10)
        return fmt::format("{:.1f}", value);
    return fmt::format("{:.2f}", value);
}

std::string seconds_text(double seconds) {
    return figure_text(seconds) + " s";
}

std::string microseconds_text(double microseconds) {
    if (microseconds >= 10e6)
        return figure_text(microseconds / 1e6) + " s";
    if (microseconds >= 10e3)
        return figure_text(microseconds / 1e3) + " ms";
    return fmt::format("{:.0f} us", microseconds);
}

std::string bytes_text(double bytes) {
    if (bytes >= 10e6)
        return figure_text(bytes / 1e6) + " MB";
    if (bytes >= 1e3)
        return figure_text(bytes / 1e3) + " KB";
    return fmt::format("{:.0f} B", bytes);
}

std::string ratio_text(double ratio) {
    return figure_text(ratio) + " x";
}

std::string notice_text(double milliseconds) {
    return count_text(std::abs(milliseconds)) + (milliseconds < 0 ? " ms after" : " ms before");
}

}  // namespace corozk::bench
