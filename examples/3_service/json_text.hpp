// SPDX-License-Identifier: Apache-2.0
// Node data in JSON. Data is bytes and JSON is UTF-8: invalid UTF-8 would make the whole text
// invalid.
#pragma once

#include <boost/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace service {

/// The length of the first character in bytes; 0 if it is invalid.
inline std::size_t utf8_length(std::string_view text) {
    auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    unsigned char first = byte(0);
    if (first < 0x80)
        return 1;
    std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length)
        return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80)
            return 0;
    }
    unsigned char second = byte(1);
    bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    bool surrogate = first == 0xED && second > 0x9F;
    bool too_large = first == 0xF4 && second > 0x8F;
    return overlong || surrogate || too_large ? 0 : length;
}

/// The text with a replacement character for each byte that is not UTF-8.
inline std::string as_utf8(std::string_view data) {
    std::string text;
    while (!data.empty()) {
        std::size_t length = utf8_length(data);
        if (length == 0)
            text += "\xEF\xBF\xBD";
        else
            text += data.substr(0, length);
        data.remove_prefix(length == 0 ? 1 : length);
    }
    return text;
}

inline std::string as_base64(std::string_view data) {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (; !data.empty(); data.remove_prefix(data.size() < 3 ? data.size() : 3)) {
        unsigned bits = 0;
        for (std::size_t i = 0; i < 3; ++i)
            bits = bits << 8U | (i < data.size() ? static_cast<unsigned char>(data[i]) : 0U);
        for (std::size_t i = 0; i < 4; ++i)
            text += i <= data.size() ? digits[bits >> (18 - 6 * i) & 63U] : '=';
    }
    return text;
}

/// Adds `name`, for humans, and if the data is not valid text also `name_base64`, which is exact.
inline void add_data(boost::json::object& to, std::string name, std::string_view data) {
    std::string text = as_utf8(data);
    if (text != data)
        to[name + "_base64"] = as_base64(data);
    to[name] = text;
}

}  // namespace service
