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

bool right_behind(const past_contender& gone, std::int32_t sequence, std::int64_t czxid) noexcept {
    if (gone.sequence < 0 || sequence <= 0 || sequence - 1 != gone.sequence)
        return false;
    // The upper half counts the leaders of the ensemble; each begins to count anew.
    if (czxid >> 32 != gone.czxid >> 32)
        return false;
    std::int64_t transactions = czxid - gone.czxid;
    std::int64_t needed =
        3 + std::int64_t{sequence} + 1;  // three ends and beginnings, all before, it
    return transactions > 0 && transactions < needed;
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

head_step decide(const head_state& s) noexcept {
    if (!s.connected)
        return head_step::wait;
    if (s.announced)
        return head_step::grant;
    if (s.blocked) {
        if (s.stale && !s.blocked_by_local)
            return head_step::look;
        // A holder that releases proves the next one's node in the same transaction.
        if (s.patient)
            return head_step::wait;
        // Otherwise it is proved meanwhile: the grant needs no round trip for it when its turn
        // comes, and we hear of it if somebody erases the node.
        return s.proved ? head_step::wait : head_step::prove;
    }
    if (!s.covered)
        return head_step::look;
    return s.proved ? head_step::grant : head_step::prove;
}

try_step decide_try(const head_state& s, bool listed) noexcept {
    if (s.blocked_by_leaving)
        return try_step::wait;
    return s.blocked_by_local || listed ? try_step::refuse : try_step::look;
}

}  // namespace corozk::detail
