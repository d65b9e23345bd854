// SPDX-License-Identifier: Apache-2.0
#include "recipe/locks/shared_lock_rule.hpp"

namespace corozk::detail {

void shared_rule::blockers(ahead_of& ahead,
                           const contention_entry& me,
                           std::vector<const contention_entry*>& out) const {
    while (const contention_entry* e = ahead.next()) {
        bool blocks = me.kind == read_kind ? e->kind != read_kind : e->order != me.except;
        if (!blocks)
            continue;
        out.push_back(e);
        return;
    }
}

std::vector<blocking_range> shared_rule::blocking_ranges(const contention_entries& queue,
                                                         std::int32_t) const {
    std::vector<blocking_range> ranges(queue.size());
    blocking_range last_writer;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        if (queue[i].kind == read_kind) {
            ranges[i] = last_writer;
            continue;
        }
        ranges[i] = {last_writer.first, i - last_writer.first};
        last_writer = {i, 1};
    }
    return ranges;
}

bool shared_rule::follows(const contention_entry& granted, const contention_entry& me) const {
    return granted.kind == read_kind && me.kind == read_kind;
}

bool shared_rule::hopeless(ahead_of& ahead, const contention_entry& me) const {
    if (me.except == no_order)
        return false;
    while (const contention_entry* e = ahead.next()) {
        if (e->order <= me.except)
            break;
        if (e->kind != read_kind)
            return true;
    }
    return false;
}

bool shared_rule::can_be_converted(const contention_entry& entry) const {
    return entry.kind == write_kind;
}

}  // namespace corozk::detail
