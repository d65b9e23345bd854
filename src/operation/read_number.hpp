// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>

namespace corozk::detail {

/// Whether the whole text is a decimal number.
template <class Number>
bool read_number(std::string_view text, Number& number) noexcept {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

/// Same as above, also with what Python's `int` accepts around it: blanks, and a plus sign.
template <class Number>
bool read_padded_number(std::string_view text, Number& number) noexcept {
    constexpr std::string_view blanks = " \t\n\v\f\r";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    text = text.substr(0, text.find_last_not_of(blanks) + 1);
    if (text.starts_with('+') && !text.starts_with("+-"))
        text.remove_prefix(1);
    return read_number(text, number);
}

}  // namespace corozk::detail
