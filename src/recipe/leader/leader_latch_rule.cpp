// SPDX-License-Identifier: Apache-2.0
#include "recipe/leader/leader_latch_rule.hpp"

namespace corozk::detail {

latch_step decide(const latch_view& v) noexcept {
    if (v.leading && v.lost)
        return latch_step::forget;
    if (v.granted && !v.leading) {
        if (v.wanted)
            return latch_step::lead;
        return v.releasing ? latch_step::wait : latch_step::refuse;
    }
    if (!v.wanted) {
        if (v.campaigning)
            return latch_step::withdraw;
        if (v.releasing)
            return latch_step::wait;
        if (v.leading)
            return latch_step::release;
        return v.leaving ? latch_step::wait : latch_step::stop;
    }
    bool can_campaign = !v.campaigning && !v.leaving && v.session;
    if (v.leading) {
        // The new term may be granted before the end of the old one is confirmed.
        if (!v.resigning || v.releasing)
            return latch_step::wait;
        // Become a candidate before resigning.
        if (!v.campaigning && !v.granted)
            return can_campaign ? latch_step::campaign : latch_step::wait;
        return latch_step::release;
    }
    return can_campaign ? latch_step::campaign : latch_step::wait;
}

}  // namespace corozk::detail
