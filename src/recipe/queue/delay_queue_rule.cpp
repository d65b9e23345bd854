// SPDX-License-Identifier: Apache-2.0
#include "recipe/queue/delay_queue_rule.hpp"

#include <algorithm>

namespace corozk::detail {

namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

}  // namespace

std::int64_t due_at(const due_time& when, system_clock::time_point now) noexcept {
    std::int64_t due = when.milliseconds();
    if (when.is_delay())
        due += std::chrono::ceil<milliseconds>(now).time_since_epoch().count();
    return std::clamp<std::int64_t>(due, 0, latest_due);
}

system_clock::time_point time_of_due(std::int64_t due) noexcept {
    constexpr auto latest =
        std::chrono::time_point_cast<milliseconds>(system_clock::time_point::max());
    return std::min(std::chrono::time_point<system_clock, milliseconds>(milliseconds(due)), latest);
}

due_items find_due(const item_order& items, system_clock::time_point now) noexcept {
    std::int64_t said = std::chrono::floor<milliseconds>(now).time_since_epoch().count();
    auto is_due = [said](const queue_entry& e) { return e.key.rank <= said; };
    due_items due;
    std::optional<std::int64_t> next;
    auto see = [&](std::int64_t rank) { next = std::min(next.value_or(rank), rank); };
    auto arranged = items.arranged();
    auto first_not_due = std::partition_point(arranged.begin(), arranged.end(), is_due);
    due.count = static_cast<std::size_t>(first_not_due - arranged.begin());
    if (first_not_due != arranged.end()) {
        see(first_not_due->key.rank);
    } else {
        for (const queue_entry& e : items.rest()) {
            if (is_due(e)) {
                ++due.count;
            } else {
                see(e.key.rank);
            }
        }
    }
    if (next) {
        // Without computing the difference, as the clock may have any value.
        bool soon = said >= *next - clock_check_interval.count();
        due.again = soon ? milliseconds(*next - said) : clock_check_interval;
    }
    return due;
}

}  // namespace corozk::detail
