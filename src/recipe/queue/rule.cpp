// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/rule.hpp"

#include "operation/read_number.hpp"
#include "recipe/contention/node_name.hpp"

#include <algorithm>
#include <charconv>

namespace corozk::detail {

namespace {

constexpr std::int32_t kazoo_default_priority = 100;

/// The prefix of the items' names.
std::string_view stem_of(compatibility format) noexcept {
    switch (format) {
        case compatibility::curator: return "qn-";
        case compatibility::kazoo: return "entry-";
        case compatibility::native: break;
    }
    return "queue-";
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
    std::int32_t priority = 0;
    auto sequence = parse_sequence(text.substr(dash + 1));
    if (!read_number(text.substr(0, dash), priority) || !sequence)
        return std::nullopt;
    return queue_key{priority, *sequence};
}

}  // namespace

std::string due_text(std::int64_t due) {
    std::string digits = std::to_string(due);
    return std::string(due_width - std::min(due_width, digits.size()), '0') + digits;
}

std::optional<std::int64_t> parse_due(std::string_view text) noexcept {
    bool digits_only =
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (text.size() != due_width || !digits_only)
        return std::nullopt;
    std::int64_t due = 0;
    std::from_chars(text.data(), text.data() + text.size(), due);
    return due;
}

bool queue_names::exist() const noexcept {
    switch (format_) {
        case compatibility::native: return true;
        case compatibility::kazoo: return !timed();
        case compatibility::curator: return !ranked();
    }
    return false;
}

const char* queue_names::problem_of(std::int64_t rank) const noexcept {
    if (!exist())
        return timed() ? "this format has no due times" : "this format has no priorities";
    if (timed())
        return rank >= 0 && rank <= latest_due ? nullptr : "the due time is out of range";
    bool bounded = prioritized() && format_ == compatibility::kazoo;
    return !bounded || (rank >= 0 && rank <= 999) ? nullptr : "priorities must be from 0 to 999";
}

std::string queue_names::prefix(std::int64_t rank) const {
    std::string name(stem_of(format_));
    if (timed()) {
        name += due_text(rank) + '-';
    } else if (format_ == compatibility::kazoo) {
        std::string digits = std::to_string(prioritized() ? rank : kazoo_default_priority);
        name += std::string(3 - std::min<std::size_t>(3, digits.size()), '0') + digits + '-';
    } else if (prioritized()) {
        name += std::to_string(rank) + '-';
    }
    return name;
}

std::optional<queue_key> queue_names::parse(std::string_view name) const noexcept {
    if (!exist() || !name.starts_with(stem_of(format_)))
        return std::nullopt;
    name.remove_prefix(stem_of(format_).size());
    if (timed())
        return parse_timed(name);
    if (prioritized() || format_ == compatibility::kazoo)
        return parse_prioritized(name);
    auto sequence = parse_sequence(name);
    if (!sequence)
        return std::nullopt;
    return queue_key{0, *sequence};
}

}  // namespace corozk::detail
