// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/head_decision.hpp"

namespace corozk::detail {

bool right_behind(const past_contender& gone, std::int32_t sequence, std::int64_t czxid) noexcept {
    if (gone.sequence < 0 || sequence <= 0 || sequence - 1 != gone.sequence)
        return false;
    // The upper half counts the leaders of the ensemble; each begins to count from zero.
    if (czxid >> 32 != gone.czxid >> 32)
        return false;
    std::int64_t transactions = czxid - gone.czxid;
    std::int64_t needed =
        3 + std::int64_t{sequence} + 1;  // three ends and beginnings, all before, it
    return transactions > 0 && transactions < needed;
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
        // comes, and its end is noticed if another client deletes the node.
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
