// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/node_map.hpp>

#include <cstddef>
#include <string_view>

namespace corozk::detail {

/// Makes a `node_map`, and others that differ from it.
///
/// A change takes O(log n) time, and as many blocks of memory if the map it is made to is used
/// elsewhere; otherwise it is made in place. If it throws (out of memory), there was no change.
/// Used by one thread at a time, while other threads use its maps.
class node_map_editor {
public:
    node_map_editor() = default;
    explicit node_map_editor(node_map begin) noexcept : map_(std::move(begin)) {}

    std::size_t size() const noexcept { return map_.size(); }

    /// Null if there is none; valid until the next change.
    const node_data* find(std::string_view key) const noexcept;

    /// Adds or replaces a node.
    void set(std::string_view key, node_data data);

    /// @return whether there was one
    bool erase(std::string_view key);

    /// What it contains now, O(1). Later changes do not concern it.
    const node_map& map() const noexcept { return map_; }

    /// Forgets everything, but destroys at most `count` of the parts that no other map shares.
    /// @return whether nothing is left; otherwise to be called again, and nothing else
    bool drop_some(std::size_t count) noexcept;

private:
    node_map map_;
};

}  // namespace corozk::detail
