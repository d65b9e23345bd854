// SPDX-License-Identifier: Apache-2.0
#include "json_text.hpp"

#include "base64.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/locale/utf.hpp>

#include <utility>

namespace corozk::program {

namespace json = boost::json;

std::string valid_text(std::string_view bytes) {
    namespace utf = boost::locale::utf;
    std::string result;
    while (!bytes.empty()) {
        const char* end = bytes.data();
        if (utf::is_valid_codepoint(
                utf::utf_traits<char>::decode(end, bytes.data() + bytes.size()))) {
            result.append(bytes.data(), end);
        } else {
            result += "\xef\xbf\xbd";
            end = bytes.data() + 1;
        }
        bytes.remove_prefix(static_cast<std::size_t>(end - bytes.data()));
    }
    return result;
}

bool is_utf8(std::string_view bytes) {
    return valid_text(bytes) == bytes;
}

void make_valid(json::value& value) {
    if (json::string* text = value.if_string()) {
        *text = valid_text(*text);
    } else if (json::array* values = value.if_array()) {
        for (json::value& one : *values)
            make_valid(one);
    } else if (json::object* members = value.if_object()) {
        json::object result;
        for (auto& member : *members) {
            std::string name = valid_text(member.key());
            const json::string* bytes = member.value().if_string();
            std::string encoded = bytes && !is_utf8(*bytes) ? to_base64(*bytes) : std::string();
            make_valid(member.value());
            result[name] = std::move(member.value());
            if (!encoded.empty())
                result[name + "_base64"] = encoded;
        }
        *members = std::move(result);
    }
}

}  // namespace corozk::program
