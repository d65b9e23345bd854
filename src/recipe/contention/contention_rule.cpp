// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/contention_rule.hpp"

#include <utility>

namespace corozk::detail {

bool contention_rule::follows(const contention_entry&, const contention_entry&) const {
    return false;
}

bool contention_rule::hopeless(ahead_of&, const contention_entry&) const {
    return false;
}

bool contention_rule::can_be_converted(const contention_entry&) const {
    return false;
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

namespace {

class only_one final : public ahead_of {
public:
    explicit only_one(const contention_entry& e) noexcept : entry_(&e) {}
    const contention_entry* next() override { return std::exchange(entry_, nullptr); }

private:
    const contention_entry* entry_;
};

}  // namespace

bool blocks_alone::operator()(const contention_entry& ahead) {
    only_one alone(ahead);
    alone.limit = limit_;
    blockers_.clear();
    rule_.blockers(alone, me_, blockers_);
    return !blockers_.empty();
}

bool blocks(const contention_rule& rule,
            const contention_entry& ahead,
            const contention_entry& me,
            std::int32_t limit) {
    return blocks_alone(rule, me, limit)(ahead);
}

std::string announcement_of(std::string_view contender) {
    return std::string(contender) + "-turn";
}

}  // namespace corozk::detail
