// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue_algo.hpp"

#include "block/node_name.hpp"
#include "recipe/delay_queue_algo.hpp"

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

bool queue_names::allows(std::int64_t rank) const noexcept {
    if (timed())
        return exist() && rank >= 0 && rank <= latest_due;
    if (!prioritized())
        return true;
    switch (format_) {
        case queue_format::native:
            return true;
        case queue_format::kazoo:
            return rank >= 0 && rank <= 999;
        case queue_format::curator:
            return false;
    }
    return false;
}

std::string queue_names::prefix(std::int64_t rank) const {
    switch (format_) {
        case queue_format::curator:
            return "qn-";
        case queue_format::kazoo: {
            char text[32];
            int priority = prioritized() ? static_cast<int>(rank) : kazoo_default_priority;
            std::snprintf(text, sizeof text, "entry-%03d-", priority);
            return text;
        }
        case queue_format::native:
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
        case queue_format::kazoo:
            if (!take_prefix(name, "entry-"))
                return std::nullopt;
            return parse_prioritized(name);
        case queue_format::curator:
            if (!take_prefix(name, "qn-"))
                return std::nullopt;
            break;
        case queue_format::native:
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

std::vector<queue_entry> order_items(const queue_names& names, const name_list& listing) {
    std::vector<queue_entry> items;
    items.reserve(listing.size());
    for (std::size_t i = 0; i < listing.size(); ++i) {
        auto key = names.parse(listing[i]);
        if (key)
            items.push_back({*key, static_cast<std::uint32_t>(i)});
    }
    // On the circle of 2^32 sequences the oldest item is the one behind the widest gap, which is
    // wider than half of it.
    auto circle = [](const queue_entry& e) { return static_cast<std::uint32_t>(e.key.sequence); };
    std::uint32_t first = 0;
    auto [low, high] = std::minmax_element(
        items.begin(), items.end(), [&](const queue_entry& a, const queue_entry& b) {
            return circle(a) < circle(b);
        });
    if (low != high && circle(*high) - circle(*low) > 0x7fffffffu) {
        // Both ends of the circle: the oldest is the lowest of those in the upper half.
        first = circle(*high);
        for (const queue_entry& e : items) {
            if (circle(e) > 0x7fffffffu)
                first = std::min(first, circle(e));
        }
    }
    std::sort(items.begin(), items.end(), [&](const queue_entry& a, const queue_entry& b) {
        if (a.key.rank != b.key.rank)
            return a.key.rank < b.key.rank;
        return circle(a) - first < circle(b) - first;
    });
    return items;
}

}  // namespace corozk::detail
