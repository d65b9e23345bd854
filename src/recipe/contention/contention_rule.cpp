// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/contention_rule.hpp"

#include <utility>

namespace corozk::detail {

void exclusive_rule::blockers(ahead_of& ahead,
                              const contention_entry&,
                              std::vector<const contention_entry*>& out) const {
    if (const contention_entry* nearest = ahead.next())
        out.push_back(nearest);
}

std::vector<blocking_range> exclusive_rule::blocking_ranges(const contention_entries& queue,
                                                            std::int32_t) const {
    std::vector<blocking_range> ranges(queue.size());
    for (std::size_t i = 1; i < queue.size(); ++i)
        ranges[i] = {i - 1, 1};
    return ranges;
}

bool is_next(const contention_rule& rule,
             ahead_of& before,
             ahead_of& after,
             const contention_entry& me) {
    std::vector<const contention_entry*> blockers;
    rule.blockers(after, me, blockers);
    if (!blockers.empty())
        return false;
    rule.blockers(before, me, blockers);
    return !blockers.empty();
}

bool blocks(const contention_rule& rule,
            const contention_entry& ahead,
            const contention_entry& me,
            std::int32_t limit,
            std::vector<const contention_entry*>& scratch) {
    struct only_one final : ahead_of {
        const contention_entry* next() override { return std::exchange(entry, nullptr); }
        const contention_entry* entry;
    } alone;
    alone.entry = &ahead;
    alone.limit = limit;
    scratch.clear();
    rule.blockers(alone, me, scratch);
    return !scratch.empty();
}

std::string announcement_of(std::string_view contender) {
    return std::string(contender) + "-turn";
}

}  // namespace corozk::detail
