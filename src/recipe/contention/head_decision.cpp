// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/head_decision.hpp"

namespace corozk::detail {

bool right_behind(const past_contender& gone, std::int32_t sequence, std::int64_t czxid) noexcept {
    if (gone.sequence < 0 || sequence <= 0 || sequence - 1 != gone.sequence)
        return false;
    // The upper half is the epoch of the ensemble's leader; each epoch starts at zero.
    if (czxid >> 32 != gone.czxid >> 32)
        return false;
    std::int64_t transactions = czxid - gone.czxid;
    // Its deletion, the parent deleted and made again together with a first node, the other earlier
    // nodes, its own.
    std::int64_t needed = 2 + std::int64_t{sequence};
    return transactions > 0 && transactions < needed;
}

head_step decide(const head_state& s) noexcept {
    if (!s.connected)
        return head_step::wait;
    if (s.announced)
        return head_step::grant;
    if (s.blocked) {
        // Before the listing has arrived, all who came together may know, and watch, the same one.
        const bool unsure = s.stale || (s.listing && !s.covered);
        if (unsure && !s.blocked_by_local)
            return head_step::look;
        // A release proves the next contender's node in the same transaction.
        if (s.patient)
            return head_step::wait;
        // Otherwise prove it now, so that the grant needs no round trip for it, and its deletion by
        // another client is detected.
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
