// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <string_view>

namespace corozk::detail {

/// Whether the whole text is a decimal number.
template <class Number>
bool read_number(std::string_view text, Number& number) noexcept {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

}  // namespace corozk::detail
