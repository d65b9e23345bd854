// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/name_list.hpp"
#include "recipe/queue/rule.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace corozk::detail {

/// The items of a listing, first one first. The sequence wraps to negative after 2^31 items, and the
/// order survives that as long as less than 2^31 lie between the oldest and the newest.
///
/// They are sorted only as far as they are accessed: taking the first of 100,000 items does not block the
/// event loop.
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

    /// Those that are in order by now: the first ones.
    std::span<const queue_entry> arranged() const noexcept {
        return std::span(items_).first(arranged_);
    }

    /// The others, all of which come after them.
    std::span<const queue_entry> rest() const noexcept {
        return std::span(items_).subspan(arranged_);
    }

private:
    bool before(const queue_entry& a, const queue_entry& b) const noexcept;
    void arrange(std::size_t i);

    std::vector<queue_entry> items_;
    std::size_t arranged_ = 0;
    std::uint32_t oldest_ = 0;  ///< where the circle of the sequences begins
};

}  // namespace corozk::detail
