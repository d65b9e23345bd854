// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/rule.hpp"

#include "recipe/contention/node_name.hpp"
#include "recipe/queue/delay_queue_rule.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace corozk::detail {

namespace {

constexpr std::int32_t kazoo_default_priority = 100;

bool digits_only(std::string_view text) noexcept {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::int32_t> parse_number(std::string_view text) noexcept {
    std::string_view digits = text;
    if (!digits.empty() && digits.front() == '-')
        digits.remove_prefix(1);
    if (!digits_only(digits))
        return std::nullopt;
    std::int32_t value = 0;
    auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

bool take_prefix(std::string_view& text, std::string_view prefix) noexcept {
    if (text.substr(0, prefix.size()) != prefix)
        return false;
    text.remove_prefix(prefix.size());
    return true;
}

/// "<due time>-<sequence>"
std::optional<queue_key> parse_timed(std::string_view text) noexcept {
    if (text.size() <= due_width || text[due_width] != '-')
        return std::nullopt;
    auto due = parse_due(text.substr(0, due_width));
    auto sequence = parse_sequence(text.substr(due_width + 1));
    if (!due || !sequence)
        return std::nullopt;
    return queue_key{*due, *sequence};
}

/// "<priority>-<sequence>", both of which may be negative.
std::optional<queue_key> parse_prioritized(std::string_view text) noexcept {
    std::size_t dash = text.find('-', 1);
    if (dash == std::string_view::npos)
        return std::nullopt;
    auto priority = parse_number(text.substr(0, dash));
    auto sequence = parse_sequence(text.substr(dash + 1));
    if (!priority || !sequence)
        return std::nullopt;
    return queue_key{*priority, *sequence};
}

}  // namespace

bool queue_names::exist() const noexcept {
    switch (format_) {
        case compatibility::native:
            return true;
        case compatibility::kazoo:
            return !timed();
        case compatibility::curator:
            return !ranked();
    }
    return false;
}

bool queue_names::allows(std::int64_t rank) const noexcept {
    if (!exist())
        return false;
    if (timed())
        return rank >= 0 && rank <= latest_due;
    bool bounded = prioritized() && format_ == compatibility::kazoo;
    return !bounded || (rank >= 0 && rank <= 999);
}

std::string queue_names::prefix(std::int64_t rank) const {
    switch (format_) {
        case compatibility::curator:
            return "qn-";
        case compatibility::kazoo: {
            char text[32];
            int priority = prioritized() ? static_cast<int>(rank) : kazoo_default_priority;
            std::snprintf(text, sizeof text, "entry-%03d-", priority);
            return text;
        }
        case compatibility::native:
            break;
    }
    if (timed())
        return "queue-" + due_text(rank) + "-";
    return prioritized() ? "queue-" + std::to_string(rank) + "-" : std::string("queue-");
}

std::optional<queue_key> queue_names::parse(std::string_view name) const noexcept {
    if (!exist())
        return std::nullopt;
    switch (format_) {
        case compatibility::kazoo:
            if (!take_prefix(name, "entry-"))
                return std::nullopt;
            return parse_prioritized(name);
        case compatibility::curator:
            if (!take_prefix(name, "qn-"))
                return std::nullopt;
            break;
        case compatibility::native:
            if (!take_prefix(name, "queue-"))
                return std::nullopt;
            if (timed())
                return parse_timed(name);
            if (prioritized())
                return parse_prioritized(name);
            break;
    }
    auto sequence = parse_sequence(name);
    if (!sequence)
        return std::nullopt;
    return queue_key{0, *sequence};
}

}  // namespace corozk::detail
