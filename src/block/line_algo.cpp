// SPDX-License-Identifier: Apache-2.0
#include "block/line_algo.hpp"

namespace corozk::detail {

bool line_rule::follows(const line_entry&, const line_entry&) const {
    return false;
}

head_step decide(const head_state& s) noexcept {
    if (!s.connected) return head_step::wait;
    if (s.blocked) {
        // A local one will tell us. Meanwhile the own node is proved, so that the grant needs no
        // round trip when its turn comes.
        if (s.blocked_by_local) return s.proved ? head_step::wait : head_step::prove;
        return s.stale ? head_step::look : head_step::wait;
    }
    if (!s.covered) return head_step::look;
    return s.proved ? head_step::grant : head_step::prove;
}

}  // namespace corozk::detail
