// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/node_map.hpp>

#include <boost/container/static_vector.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace corozk::detail {

/// What a `node_map` consists of: a B+ tree, of which maps share branches.
///
/// What holds:
///   1. A part with more than one owner never changes. One with a single owner, which nothing but
///      that owner's editor can reach, is changed in place.
///   2. All leaves have the same height, 1; items have height 0. No node but the root is empty.
///   3. Of two siblings, one of which lost a part, `merged_slots` are exceeded; a node that is split
///      gives half of its parts away, except at the end of the map, where maps usually grow. So the
///      height is O(log n).
struct map_part : boost::intrusive_ref_counter<map_part, boost::thread_safe_counter> {
    explicit map_part(unsigned height_) noexcept : height(height_) {}
    map_part(const map_part&) = default;
    map_part& operator=(const map_part&) = delete;
    virtual ~map_part() = default;

    const unsigned height;
};

using part_ptr = boost::intrusive_ptr<map_part>;

struct map_item final : map_part {
    map_item(std::string_view key, node_data data)
        : map_part(0), value(std::string(key), std::move(data)) {}

    node_map::value_type value;
};

struct map_node final : map_part {
    static constexpr std::size_t max_slots = 32;
    static constexpr std::size_t merged_slots = max_slots * 3 / 4;

    explicit map_node(unsigned height_) noexcept : map_part(height_) {}

    bool full() const noexcept { return slots.size() == max_slots; }
    bool is_leaf() const noexcept { return height == 1; }

    map_node& node(std::size_t i) const noexcept { return static_cast<map_node&>(*slots[i]); }
    map_item& item(std::size_t i) const noexcept { return static_cast<map_item&>(*slots[i]); }

    const std::string& first_key_of(std::size_t i) const noexcept {
        return is_leaf() ? item(i).value.first : node(i).first->value.first;
    }

    /// The number of slots whose first key is less than `key`, or not greater than it.
    std::size_t slots_below(std::string_view key, bool or_equal) const noexcept;

    /// After the slots have changed.
    void adjust() noexcept;

    std::size_t size = 0;             ///< items below
    const map_item* first = nullptr;  ///< the item with the least key
    boost::container::static_vector<part_ptr, max_slots> slots;
};

using node_ptr = boost::intrusive_ptr<map_node>;

}  // namespace corozk::detail
