// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/node_name.hpp"

#include "operation/read_number.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace corozk::detail {

namespace {

constexpr std::size_t sequence_width = 10;

bool is_hexadecimal(char c) noexcept {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// The length of a leading guid: 32 digits, or 36 with dashes; 0 if there is none.
std::size_t guid_length(std::string_view text) noexcept {
    std::size_t digits = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_hexadecimal(text[i])) {
            if (++digits == 32)
                return i + 1 == 32 || i + 1 == 36 ? i + 1 : 0;
        } else if (text[i] != '-' || i < 8 || i > 23 || (i - 8) % 5 != 0) {
            return 0;
        }
    }
    return 0;
}

}  // namespace

std::optional<std::int32_t> parse_sequence(std::string_view digits) noexcept {
    if (digits.empty())
        return {};
    bool negative = digits.front() == '-';
    std::string_view number = negative ? digits.substr(1) : digits;
    // Padded to ten characters, including the sign; only large negative numbers have more.
    bool filled = digits.size() == sequence_width;
    bool overlong = negative && digits.size() == sequence_width + 1 && number.front() != '0';
    if (!filled && !overlong)
        return {};
    for (char c : number) {
        if (c < '0' || c > '9')
            return {};
    }
    std::int32_t value = 0;
    if (!read_number(digits, value) || (negative && value == 0))
        return {};
    return value;
}

void append_sequence(std::string& name, std::int32_t sequence) {
    char text[16];
    const char* end = std::to_chars(std::begin(text), std::end(text), sequence).ptr;
    const char* digits = text;
    if (sequence < 0)
        name.push_back(*digits++);
    const auto written = static_cast<std::size_t>(end - text);
    name.append(sequence_width - std::min(written, sequence_width), '0');
    name.append(digits, end);
}

bool is_guid(std::string_view text) noexcept {
    return text.size() == guid_digits &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string naming::format(std::string_view guid, std::uint8_t kind, std::int32_t weight) const {
    std::string name;
    name.reserve(before_guid.size() + guid.size() + infixes[kind].size() + sequence_width);
    name.append(before_guid);
    if (dashed_guid && guid.size() == 32) {
        name.append(guid.substr(0, 8)).append("-");
        name.append(guid.substr(8, 4)).append("-");
        name.append(guid.substr(12, 4)).append("-");
        name.append(guid.substr(16, 4)).append("-");
        name.append(guid.substr(20));
    } else {
        name.append(guid);
    }
    name.append(infixes[kind]);
    if (weighted && weight != 1)
        name.insert(name.size() - 1, std::to_string(weight));
    return name;
}

bool naming::is_written(std::string_view guid, std::string_view text) const noexcept {
    if (!dashed_guid || guid.size() != 32)
        return guid == text;
    return text.size() == 36 && text.substr(0, 8) == guid.substr(0, 8) &&
           text.substr(9, 4) == guid.substr(8, 4) && text.substr(14, 4) == guid.substr(12, 4) &&
           text.substr(19, 4) == guid.substr(16, 4) && text.substr(24) == guid.substr(20);
}

bool naming::take_infix(std::string_view& text,
                        std::string_view infix,
                        std::int32_t& weight) const noexcept {
    const std::size_t before = weighted ? infix.size() - 1 : infix.size();
    if (text.substr(0, before) != infix.substr(0, before))
        return false;
    text.remove_prefix(before);
    if (!weighted)
        return true;
    std::size_t end = text.find(infix.back());
    if (end == std::string_view::npos)
        return false;
    std::string_view number = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (number.empty())
        return true;
    return read_number(number, weight) && number.front() != '0' && weight > 1;
}

std::optional<node_name> naming::parse(std::string_view name) const noexcept {
    auto make = [name](std::string_view guid,
                       std::size_t kind,
                       std::string_view digits) -> std::optional<node_name> {
        auto sequence = parse_sequence(digits);
        if (!sequence)
            return {};
        node_name found;
        found.guid = guid;
        found.stem = name.substr(0, name.size() - digits.size());
        found.kind = static_cast<std::uint8_t>(kind);
        found.sequence = *sequence;
        return found;
    };
    std::string_view rest = name;
    std::size_t length = 0;
    if (rest.substr(0, before_guid.size()) == before_guid) {
        rest.remove_prefix(before_guid.size());
        length = guid_length(rest);
    }
    for (std::size_t kind = 0; length > 0 && kind < infixes.size(); ++kind) {
        std::string_view tail = rest.substr(length);
        std::int32_t weight = 1;
        if (!take_infix(tail, infixes[kind], weight))
            continue;
        if (auto found = make(rest.substr(0, length), kind, tail)) {
            found->weight = weight;
            return found;
        }
    }
    for (std::size_t kind = 0; kind < foreign_infixes.size(); ++kind) {
        const std::string& infix = foreign_infixes[kind];
        if (infix.empty())
            continue;
        std::size_t at = name.rfind(infix);
        if (at == std::string_view::npos)
            continue;
        if (auto found = make({}, kind, name.substr(at + infix.size())))
            return found;
    }
    if (!counts_everything)
        return {};
    node_name other;
    other.stem = name;
    other.ordered = false;
    return other;
}

}  // namespace corozk::detail
