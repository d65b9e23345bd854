// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace corozk::detail {

/// What a server accepts by default.
inline constexpr std::size_t largest_instance = 1024 * 1024;

inline bool parse_json(std::string_view text, boost::json::value& value) {
    boost::system::error_code ec;
    value = boost::json::parse(boost::json::string_view(text.data(), text.size()), ec);
    return !ec;
}

/// Nothing if it contains a text that is not UTF-8: the serializer does not look, the parser does.
inline std::optional<std::string> write_json(const boost::json::object& fields) {
    std::string data = boost::json::serialize(fields);
    boost::json::value again;
    if (!parse_json(data, again))
        return std::nullopt;
    return data;
}

/// Such as 80.0, which some JSON libraries write.
inline bool is_exact_integer(double number) {
    constexpr double limit = 9'007'199'254'740'992.0;  // 2^53
    return std::fabs(number) <= limit && std::trunc(number) == number;
}

/// Reads the fields of an object; remembers whether one has the wrong type.
class field_reader {
public:
    explicit field_reader(const boost::json::object& fields) : fields_(fields) {}

    bool good() const noexcept { return good_; }
    void fail() noexcept { good_ = false; }

    /// Null if it is missing or null.
    const boost::json::value* find(std::string_view name) const {
        const boost::json::value* value =
            fields_.if_contains(boost::json::string_view(name.data(), name.size()));
        return value && !value->is_null() ? value : nullptr;
    }

    void read(std::string_view name, std::string& to) {
        const boost::json::value* value = find(name);
        if (!value)
            return;
        if (const boost::json::string* text = value->if_string())
            to.assign(text->data(), text->size());
        else
            good_ = false;
    }

    void read(std::string_view name, bool& to) {
        if (const boost::json::value* value = find(name)) {
            good_ = good_ && value->is_bool();
            to = value->is_bool() ? value->get_bool() : to;
        }
    }

    void read(std::string_view name, std::int64_t& to) {
        const boost::json::value* value = find(name);
        if (!value)
            return;
        if (value->is_int64())
            to = value->get_int64();
        else if (value->is_double() && is_exact_integer(value->get_double()))
            to = static_cast<std::int64_t>(value->get_double());
        else
            good_ = false;
    }

    /// A number of a smaller type.
    template <class Number>
    void read(std::string_view name, std::optional<Number>& to) {
        if (!find(name))
            return;
        std::int64_t number = std::numeric_limits<std::int64_t>::min();
        read(name, number);
        if (number < std::numeric_limits<Number>::min() ||
            number > std::numeric_limits<Number>::max())
            good_ = false;
        else
            to = static_cast<Number>(number);
    }

private:
    const boost::json::object& fields_;
    bool good_ = true;
};

}  // namespace corozk::detail
