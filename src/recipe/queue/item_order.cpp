// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/item_order.hpp"

#include <algorithm>

namespace corozk::detail {

namespace {

/// The number of items to sort at once, or a sixteenth of the rest, so that the total cost does not
/// exceed that of sorting everything at the beginning.
constexpr std::size_t at_least = 1024;
constexpr std::size_t parts = 16;

std::uint32_t circle(const queue_entry& e) noexcept {
    return static_cast<std::uint32_t>(e.key.sequence);
}

/// On the circle of 2^32 sequences, the oldest item follows the widest gap, which is wider than
/// half of the circle.
std::uint32_t oldest_of(const std::vector<queue_entry>& items) noexcept {
    auto [low, high] = std::minmax_element(
        items.begin(), items.end(), [](const queue_entry& a, const queue_entry& b) {
            return circle(a) < circle(b);
        });
    if (low == high || circle(*high) - circle(*low) <= 0x7fffffffu)
        return 0;
    // On both ends of the circle: the oldest is the lowest one in the upper half.
    std::uint32_t oldest = circle(*high);
    for (const queue_entry& e : items) {
        if (circle(e) > 0x7fffffffu)
            oldest = std::min(oldest, circle(e));
    }
    return oldest;
}

}  // namespace

item_order::item_order(const queue_names& names, const name_list& listing) {
    items_.reserve(listing.size());
    for (std::size_t i = 0; i < listing.size(); ++i) {
        auto key = names.parse(listing[i]);
        if (key)
            items_.push_back({*key, static_cast<std::uint32_t>(i)});
    }
    oldest_ = oldest_of(items_);
}

bool item_order::before(const queue_entry& a, const queue_entry& b) const noexcept {
    if (a.key.rank != b.key.rank)
        return a.key.rank < b.key.rank;
    return circle(a) - oldest_ < circle(b) - oldest_;
}

void item_order::arrange(std::size_t i) {
    auto earlier = [this](const queue_entry& a, const queue_entry& b) { return before(a, b); };
    std::size_t left = items_.size() - arranged_;
    std::size_t wanted = std::max({i + 1 - arranged_, at_least, left / parts});
    auto begin = items_.begin() + static_cast<std::ptrdiff_t>(arranged_);
    auto end = items_.end();
    if (wanted < left) {
        end = begin + static_cast<std::ptrdiff_t>(wanted);
        std::nth_element(begin, end, items_.end(), earlier);
    }
    std::sort(begin, end, earlier);
    arranged_ = static_cast<std::size_t>(end - items_.begin());
}

}  // namespace corozk::detail
