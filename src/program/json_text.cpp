// SPDX-License-Identifier: Apache-2.0
#include "json_text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace corozk::program {

namespace json = boost::json;

namespace {

/// The length of the character at the beginning; 0 if there is none.
std::size_t character_at(std::string_view bytes) noexcept {
    auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    unsigned char first = at(0);
    if (first < 0x80)
        return 1;
    std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || bytes.size() < size)
        return 0;
    for (std::size_t i = 1; i < size; ++i) {
        if ((at(i) & 0xc0) != 0x80)
            return 0;
    }
    // Written longer than need be, halves of a pair, past the last one.
    unsigned char second = at(1);
    bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                 (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
    return wrong ? 0 : size;
}

std::string_view view(const json::string& text) noexcept {
    return {text.data(), text.size()};
}

bool is_bad_string(const json::value& value) noexcept {
    return value.is_string() && !is_utf8(view(value.get_string()));
}

json::string encoded(const json::value& value) {
    return json::string(base64(view(value.get_string())));
}

void replace(json::value& value) {
    value = json::string(valid_text(view(value.get_string())));
}

json::array encode_all(json::array& strings) {
    json::array result;
    for (json::value& one : strings) {
        if (!one.is_string()) {
            result.push_back(nullptr);
            continue;
        }
        result.push_back(encoded(one));
        replace(one);
    }
    return result;
}

}  // namespace

bool is_utf8(std::string_view bytes) noexcept {
    while (!bytes.empty()) {
        std::size_t size = character_at(bytes);
        if (size == 0)
            return false;
        bytes.remove_prefix(size);
    }
    return true;
}

std::string valid_text(std::string_view bytes) {
    std::string result;
    while (!bytes.empty()) {
        std::size_t size = character_at(bytes);
        if (size == 0)
            result += "\xef\xbf\xbd";
        else
            result += bytes.substr(0, size);
        bytes.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return result;
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string result;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::string_view group = bytes.substr(i, 3);
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < 3; ++k)
            bits = bits << 8 | (k < group.size() ? static_cast<unsigned char>(group[k]) : 0U);
        for (std::size_t k = 0; k < 4; ++k)
            result += k <= group.size() ? digits[bits >> (18 - 6 * k) & 63] : '=';
    }
    return result;
}

void make_valid(json::value& value) {
    if (value.is_array()) {
        for (json::value& one : value.get_array())
            make_valid(one);
        return;
    }
    if (is_bad_string(value))
        replace(value);
    if (!value.is_object())
        return;
    json::object result;
    for (auto& member : value.get_object()) {
        std::string name = valid_text(member.key());
        json::value& what = member.value();
        json::value bytes;
        if (is_bad_string(what)) {
            bytes = encoded(what);
            replace(what);
        } else if (what.is_array() &&
                   std::any_of(what.get_array().begin(), what.get_array().end(), is_bad_string)) {
            bytes = encode_all(what.get_array());
        }
        make_valid(what);
        result[name] = std::move(what);
        if (!bytes.is_null())
            result[name + "_base64"] = std::move(bytes);
    }
    value = std::move(result);
}

}  // namespace corozk::program
