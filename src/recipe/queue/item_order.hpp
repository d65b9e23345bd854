// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/name_list.hpp"
#include "recipe/queue/rule.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace corozk::detail {

/// The items of a listing in order. Sequences wrap to negative after 2^31 items; the order is
/// correct as long as there are less than 2^31 between the oldest and the newest item.
///
/// They are sorted only as far as they are accessed, so that taking the first of 100,000 items does
/// not block the event loop.
class item_order {
public:
    item_order() = default;
    item_order(const queue_names& names, const name_list& listing);

    std::size_t size() const noexcept { return items_.size(); }

    const queue_entry& operator[](std::size_t i) {
        if (i >= arranged_)
            arrange(i);
        return items_[i];
    }

    /// The first items, as far as they are sorted.
    std::span<const queue_entry> arranged() const noexcept {
        return std::span(items_).first(arranged_);
    }

    /// The unsorted rest, which comes after them.
    std::span<const queue_entry> rest() const noexcept {
        return std::span(items_).subspan(arranged_);
    }

private:
    bool before(const queue_entry& a, const queue_entry& b) const noexcept;
    void arrange(std::size_t i);

    std::vector<queue_entry> items_;
    std::size_t arranged_ = 0;
    std::uint32_t oldest_ = 0;  ///< the first sequence on the circle
};

}  // namespace corozk::detail
