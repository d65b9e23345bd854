// SPDX-License-Identifier: Apache-2.0
#include "block/node_name.hpp"

#include <charconv>

namespace corozk::detail {

namespace {

constexpr std::size_t sequence_width = 10;

bool is_hexadecimal(char c) noexcept {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// The length of the guid at the beginning: 32 digits, or 36 with dashes; 0 if there is none.
std::size_t guid_length(std::string_view text) noexcept {
    std::size_t digits = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_hexadecimal(text[i])) {
            if (++digits == 32) return i + 1 == 32 || i + 1 == 36 ? i + 1 : 0;
        } else if (text[i] != '-' || i < 8 || i > 23 || (i - 8) % 5 != 0) {
            return 0;
        }
    }
    return 0;
}

}  // namespace

std::optional<std::int32_t> parse_sequence(std::string_view digits) noexcept {
    if (digits.size() < sequence_width || digits.size() > sequence_width + 1) return {};
    bool negative = digits.front() == '-';
    // Eleven characters are needed only by large negative numbers.
    if (digits.size() > sequence_width && !negative) return {};
    std::string_view number = negative ? digits.substr(1) : digits;
    for (char c : number) {
        if (c < '0' || c > '9') return {};
    }
    std::int32_t value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return {};
    return value;
}

std::string naming::format(std::string_view guid, std::uint8_t kind) const {
    std::string name = before_guid;
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
    return name;
}

std::optional<node_name> naming::parse(std::string_view name) const noexcept {
    if (name.size() > before_guid.size() &&
        name.substr(0, before_guid.size()) == before_guid) {
        std::string_view rest = name.substr(before_guid.size());
        if (std::size_t length = guid_length(rest)) {
            std::string_view tail = rest.substr(length);
            for (std::size_t kind = 0; kind < infixes.size(); ++kind) {
                if (tail.substr(0, infixes[kind].size()) != infixes[kind]) continue;
                if (auto sequence = parse_sequence(tail.substr(infixes[kind].size()))) {
                    return node_name{rest.substr(0, length), static_cast<std::uint8_t>(kind),
                                     *sequence};
                }
            }
        }
    }
    for (std::size_t kind = 0; kind < foreign_infixes.size(); ++kind) {
        const std::string& infix = foreign_infixes[kind];
        if (infix.empty()) continue;
        std::size_t at = name.rfind(infix);
        if (at == std::string_view::npos) continue;
        if (auto sequence = parse_sequence(name.substr(at + infix.size()))) {
            return node_name{{}, static_cast<std::uint8_t>(kind), *sequence};
        }
    }
    return {};
}

}  // namespace corozk::detail
