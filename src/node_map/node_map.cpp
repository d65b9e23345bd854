// SPDX-License-Identifier: Apache-2.0
#include "node_map/parts.hpp"
#include <corozk/node_map.hpp>

#include <stdexcept>

namespace corozk {

namespace detail {

std::size_t map_node::slots_below(std::string_view key, bool or_equal) const noexcept {
    std::size_t low = 0;
    std::size_t high = slots.size();
    while (low < high) {
        std::size_t middle = (low + high) / 2;
        int order = first_key_of(middle).compare(key);
        if (order < 0 || (or_equal && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void map_node::adjust() noexcept {
    size = 0;
    first = nullptr;
    if (slots.empty())
        return;
    if (is_leaf()) {
        size = slots.size();
        first = &item(0);
        return;
    }
    for (std::size_t i = 0; i < slots.size(); ++i)
        size += node(i).size;
    first = node(0).first;
}

namespace {

/// How many items have a key less than this, or not greater than it.
std::size_t items_below(const map_node* n, std::string_view key, bool or_equal) noexcept {
    std::size_t count = 0;
    while (n) {
        std::size_t below = n->slots_below(key, or_equal);
        if (n->is_leaf())
            return count + below;
        if (below == 0)
            return count;
        for (std::size_t i = 0; i + 1 < below; ++i)
            count += n->node(i).size;
        n = &n->node(below - 1);
    }
    return count;
}

}  // namespace

}  // namespace detail

node_map::node_map() noexcept = default;
node_map::node_map(const node_map& other) noexcept = default;
node_map::node_map(node_map&& other) noexcept = default;
node_map& node_map::operator=(const node_map& other) noexcept = default;
node_map& node_map::operator=(node_map&& other) noexcept = default;
node_map::~node_map() = default;

node_map::node_map(boost::intrusive_ptr<detail::map_node> root) noexcept : root_(std::move(root)) {}

void node_map::const_iterator::go_to(size_type position) noexcept {
    position_ = position;
    if (leaf_ && position >= first_ && position - first_ < leaf_->size) {
        element_ = &leaf_->item(position - first_).value;
        return;
    }
    leaf_ = nullptr;
    element_ = nullptr;
    if (!root_ || position >= root_->size)
        return;
    const detail::map_node* n = root_;
    first_ = 0;
    while (!n->is_leaf()) {
        std::size_t i = 0;
        while (position - first_ >= n->node(i).size)
            first_ += n->node(i++).size;
        n = &n->node(i);
    }
    leaf_ = n;
    element_ = &leaf_->item(position - first_).value;
}

node_map::size_type node_map::size() const noexcept {
    return root_ ? root_->size : 0;
}

node_map::const_iterator node_map::begin() const noexcept {
    return const_iterator(root_.get(), 0);
}

node_map::const_iterator node_map::end() const noexcept {
    return const_iterator(root_.get(), size());
}

node_map::const_iterator node_map::lower_bound(std::string_view key) const noexcept {
    return const_iterator(root_.get(), detail::items_below(root_.get(), key, false));
}

node_map::const_iterator node_map::upper_bound(std::string_view key) const noexcept {
    return const_iterator(root_.get(), detail::items_below(root_.get(), key, true));
}

std::pair<node_map::const_iterator, node_map::const_iterator> node_map::equal_range(
    std::string_view key) const noexcept {
    return {lower_bound(key), upper_bound(key)};
}

node_map::const_iterator node_map::find(std::string_view key) const noexcept {
    const_iterator at = lower_bound(key);
    return at.element_ && at->first == key ? at : end();
}

bool node_map::contains(std::string_view key) const noexcept {
    return find(key) != end();
}

const node_data& node_map::at(std::string_view key) const {
    const_iterator found = find(key);
    if (found == end())
        throw std::out_of_range("node_map::at");
    return found->second;
}

}  // namespace corozk
