// SPDX-License-Identifier: Apache-2.0
#include "result.hpp"

#include "utf8_text.hpp"

#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <cmath>

namespace corozk::bench {

namespace {

namespace json = boost::json;

/// Without digits that mean nothing.
json::value rounded(double value) {
    if (value == std::floor(value) && std::abs(value) < 1e15) {
        return json::value(static_cast<std::int64_t>(value));
    }
    double scale = std::pow(10.0, 5 - std::floor(std::log10(std::abs(value))));
    return json::value(std::round(value * scale) / scale);
}

json::value& slot(json::object& object, std::string_view key) {
    auto dot = key.find('.');
    if (dot == key.npos)
        return object[key];
    auto& inner = object[key.substr(0, dot)];
    if (!inner.is_object())
        inner = json::object();
    return inner.get_object()[key.substr(dot + 1)];
}

}  // namespace

result& result::set(std::string_view key, std::string_view value) {
    slot(facts_, key) = json::string(to_utf8(value));
    return *this;
}

result& result::set(std::string_view key, std::size_t value) {
    slot(facts_, key) = static_cast<std::uint64_t>(value);
    return *this;
}

double result::figure::value() const {
    switch (told) {
        case of_repetitions::most: return *std::max_element(values.begin(), values.end());
        case of_repetitions::least: return *std::min_element(values.begin(), values.end());
        case of_repetitions::median: break;
    }
    return bench::median(values);
}

result& result::add(std::string_view key, double value, of_repetitions told) {
    auto at = std::find_if(
        figures_.begin(), figures_.end(), [key](const figure& f) { return f.key == key; });
    if (at == figures_.end())
        at = figures_.insert(at, {std::string(key), told, {}});
    at->values.push_back(value);
    return *this;
}

result& result::add(const latencies& more) {
    for (double value : more.values())
        distribution_.add(value);
    return *this;
}

const result::figure* result::find(std::string_view key) const {
    auto at = std::find_if(
        figures_.begin(), figures_.end(), [key](const figure& f) { return f.key == key; });
    return at == figures_.end() ? nullptr : &*at;
}

double result::median(std::string_view key) const {
    const figure* f = find(key);
    return f ? bench::median(f->values) : 0;
}

double result::last(std::string_view key) const {
    const figure* f = find(key);
    return f ? f->values.back() : 0;
}

double result::least(std::string_view key) const {
    const figure* f = find(key);
    return f ? *std::min_element(f->values.begin(), f->values.end()) : 0;
}

double result::most(std::string_view key) const {
    const figure* f = find(key);
    return f ? *std::max_element(f->values.begin(), f->values.end()) : 0;
}

double result::number(std::string_view key) const {
    const auto* value = facts_.if_contains(key);
    return value && value->is_number() ? value->to_number<double>() : 0;
}

std::string_view result::text(std::string_view key) const {
    const auto* value = facts_.if_contains(key);
    return value && value->is_string() ? std::string_view(value->get_string()) : "";
}

json::object result::to_json() const {
    json::object row = facts_;
    json::object spread;
    for (const figure& f : figures_) {
        // JSON knows no other numbers.
        if (!std::all_of(
                f.values.begin(), f.values.end(), [](double v) { return std::isfinite(v); }))
            continue;
        slot(row, f.key) = rounded(f.value());
        if (f.values.size() < 2)
            continue;
        json::object ends;
        ends["min"] = rounded(least(f.key));
        ends["max"] = rounded(most(f.key));
        slot(spread, f.key) = std::move(ends);
    }
    if (!spread.empty())
        row["spread"] = std::move(spread);
    if (distribution_.count() > 0)
        row["distribution_us"] = distribution_.to_json();
    return row;
}

}  // namespace corozk::bench
