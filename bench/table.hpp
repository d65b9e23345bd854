// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// Text in columns: the first to the left, figures to the right.
class table {
public:
    explicit table(std::vector<std::string> head) : head_(std::move(head)) {}

    /// Missing cells stay empty.
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

    std::string str() const;

private:
    std::vector<std::string> head_;
    std::vector<std::vector<std::string>> rows_;
};

// How figures are written.

/// 10,000
std::string count_text(double n);
std::string count_text(std::size_t n);

/// "1 waiter", "10 waiters", "2 watches"
std::string counted(std::size_t n, std::string_view what);

/// 0.68 s, 12.3 s
std::string seconds_text(double seconds);

/// 141 us, 3.1 ms
std::string microseconds_text(double microseconds);

/// 512 B, 1.8 KB, 29 KB
std::string bytes_text(double bytes);

/// With about three significant digits.
std::string figure_text(double value);

/// 1.05 x
std::string ratio_text(double ratio);

/// Of a notice that came so long before something else, or after it: 12 ms before
std::string notice_text(double milliseconds);

}  // namespace corozk::bench
