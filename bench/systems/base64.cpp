// SPDX-License-Identifier: Apache-2.0
#include "systems/base64.hpp"

#include <cstdint>
#include <stdexcept>

namespace corozk::bench {

namespace {

constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::string_view bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::string_view group = bytes.substr(i, 3);
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            bits <<= 8;
            if (k < group.size())
                bits |= static_cast<unsigned char>(group[k]);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            bool padding = k > group.size();
            text += padding ? '=' : base64_digits[(bits >> (6 * (3 - k))) & 63];
        }
    }
    return text;
}

std::string from_base64(std::string_view text) {
    while (text.ends_with('='))
        text.remove_suffix(1);
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (char c : text) {
        auto digit = base64_digits.find(c);
        if (digit == base64_digits.npos)
            throw std::runtime_error("not base64: " + std::string(text));
        bits = bits << 6 | static_cast<std::uint32_t>(digit);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes += static_cast<char>(bits >> count & 0xFF);
        }
    }
    return bytes;
}

}  // namespace corozk::bench
