// SPDX-License-Identifier: Apache-2.0
#include "node_map/node_map_editor.hpp"

#include "node_map/parts.hpp"

#include <boost/container/small_vector.hpp>

#include <iterator>
#include <utility>

namespace corozk::detail {

namespace {

/// A node on the way to a key, and the slot that leads there.
struct map_step {
    map_node* node;
    std::size_t slot;
};
using map_way = boost::container::small_vector<map_step, 12>;

map_node& to_map_node(map_part& part) noexcept {
    return static_cast<map_node&>(part);
}

/// The node, to be changed: a copy if it has other owners.
template <class Pointer>
map_node& own_node(Pointer& slot) {
    if (slot->use_count() > 1)
        slot = new map_node(to_map_node(*slot));
    return to_map_node(*slot);
}

std::size_t slot_towards(const map_node& n, std::string_view key) noexcept {
    std::size_t below = n.slots_below(key, true);
    return below == 0 ? 0 : below - 1;
}

/// Changes no contents: all nodes on the way become owned, down to the leaf.
map_way own_way(node_ptr& root, std::string_view key) {
    map_way steps;
    map_node* n = &own_node(root);
    for (;;) {
        std::size_t slot = slot_towards(*n, key);
        steps.push_back(map_step{n, slot});
        if (n->is_leaf())
            return steps;
        n = &own_node(n->slots[slot]);
    }
}

/// Moves the parts from `keep` on to a new node behind it. The parent is owned and has room.
void split_node(map_node& parent, std::size_t slot, std::size_t keep) {
    map_node& left = own_node(parent.slots[slot]);
    node_ptr right(new map_node(left.height));
    auto middle = left.slots.begin() + static_cast<std::ptrdiff_t>(keep);
    right->slots.insert(right->slots.end(),
                        std::make_move_iterator(middle),
                        std::make_move_iterator(left.slots.end()));
    left.slots.erase(middle, left.slots.end());
    left.adjust();
    right->adjust();
    parent.slots.insert(parent.slots.begin() + static_cast<std::ptrdiff_t>(slot) + 1,
                        std::move(right));
}

/// Same as `own_way`, for a key that is to be added: no node on the way is full.
map_way open_way(node_ptr& root, std::string_view key) {
    const map_node* end = root.get();
    while (!end->is_leaf())
        end = &end->node(end->slots.size() - 1);
    const bool last = end->item(end->slots.size() - 1).value.first < key;
    const std::size_t keep = last ? map_node::max_slots - 1 : map_node::max_slots / 2;

    if (root->full()) {
        node_ptr above(new map_node(root->height + 1));
        above->slots.push_back(std::move(root));
        above->adjust();
        root = std::move(above);
    }
    map_way steps;
    map_node* n = &own_node(root);
    for (;;) {
        std::size_t slot = slot_towards(*n, key);
        if (!n->is_leaf() && n->node(slot).full()) {
            split_node(*n, slot, keep);
            slot = slot_towards(*n, key);
        }
        steps.push_back(map_step{n, slot});
        if (n->is_leaf())
            return steps;
        n = &own_node(n->slots[slot]);
    }
}

/// Joins two neighbours with few parts, of which one is owned.
void merge_nodes(map_node& parent,
                 std::size_t left,
                 std::size_t right,
                 bool left_is_owned) noexcept {
    map_node& owned = parent.node(left_is_owned ? left : right);
    const map_node& other = parent.node(left_is_owned ? right : left);
    auto at = left_is_owned ? owned.slots.end() : owned.slots.begin();
    owned.slots.insert(at, other.slots.begin(), other.slots.end());
    owned.adjust();
    auto gone = parent.slots.begin() + static_cast<std::ptrdiff_t>(left_is_owned ? right : left);
    parent.slots.erase(gone);
}

/// After the node in this slot, which is owned, has lost a part.
void tidy_node(map_node& parent, std::size_t slot) noexcept {
    const map_node& n = parent.node(slot);
    if (n.slots.empty()) {
        parent.slots.erase(parent.slots.begin() + static_cast<std::ptrdiff_t>(slot));
        return;
    }
    auto fits = [&](std::size_t other) {
        return n.slots.size() + parent.node(other).slots.size() <= map_node::merged_slots;
    };
    if (slot + 1 < parent.slots.size() && fits(slot + 1))
        merge_nodes(parent, slot, slot + 1, true);
    else if (slot > 0 && fits(slot - 1))
        merge_nodes(parent, slot - 1, slot, false);
}

/// @return how many more parts may be destroyed
std::size_t drop_parts(map_node& n, std::size_t count) noexcept {
    while (count > 0 && !n.slots.empty()) {
        map_part& last = *n.slots.back();
        if (last.height > 0 && last.use_count() == 1)
            count = drop_parts(to_map_node(last), count);
        if (count > 0) {
            n.slots.pop_back();
            --count;
        }
    }
    return count;
}

}  // namespace

const node_data* node_map_editor::find(std::string_view key) const noexcept {
    auto found = map_.find(key);
    return found == map_.end() ? nullptr : &found->second;
}

void node_map_editor::set(std::string_view key, node_data data) {
    part_ptr fresh(new map_item(key, std::move(data)));
    node_ptr& root = map_.root_;
    if (!root) {
        node_ptr leaf(new map_node(1));
        leaf->slots.push_back(std::move(fresh));
        leaf->adjust();
        root = std::move(leaf);
        return;
    }
    const bool known = map_.contains(key);
    map_way steps = known ? own_way(root, key) : open_way(root, key);
    auto [leaf, slot] = steps.back();
    if (known) {
        leaf->slots[slot] = std::move(fresh);
    } else {
        if (leaf->item(slot).value.first < key)
            ++slot;
        leaf->slots.insert(leaf->slots.begin() + static_cast<std::ptrdiff_t>(slot),
                           std::move(fresh));
    }
    leaf->first = &leaf->item(0);
    for (auto at = steps.rbegin(); at != steps.rend(); ++at) {
        at->node->size += known ? 0 : 1;
        if (!at->node->is_leaf())
            at->node->first = at->node->node(0).first;
    }
}

bool node_map_editor::erase(std::string_view key) {
    if (!map_.contains(key))
        return false;
    node_ptr& root = map_.root_;
    map_way steps = own_way(root, key);
    auto [leaf, slot] = steps.back();
    leaf->slots.erase(leaf->slots.begin() + static_cast<std::ptrdiff_t>(slot));
    leaf->adjust();
    for (std::size_t i = steps.size() - 1; i-- > 0;) {
        map_node& n = *steps[i].node;
        tidy_node(n, steps[i].slot);
        --n.size;
        n.first = n.slots.empty() ? nullptr : n.node(0).first;
    }
    if (root->slots.empty())
        root.reset();
    while (root && !root->is_leaf() && root->slots.size() == 1)
        root = node_ptr(&root->node(0));
    return true;
}

bool node_map_editor::drop_some(std::size_t count) noexcept {
    node_ptr& root = map_.root_;
    if (root && root->use_count() == 1 && drop_parts(*root, count) == 0)
        return false;
    root.reset();
    return true;
}

}  // namespace corozk::detail
