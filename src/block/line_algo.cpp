// SPDX-License-Identifier: Apache-2.0
#include "block/line_algo.hpp"

namespace corozk::detail {

bool line_rule::follows(const line_entry&, const line_entry&) const {
    return false;
}

bool line_rule::hopeless(ahead_of&, const line_entry&) const {
    return false;
}

head_step decide(const head_state& s) noexcept {
    if (!s.connected) return head_step::wait;
    if (s.blocked) {
        if (s.stale && !s.blocked_by_local) return head_step::look;
        // Meanwhile the own node is proved: the grant needs no round trip for it when its turn
        // comes, and we hear of it if somebody erases the node.
        return s.proved ? head_step::wait : head_step::prove;
    }
    if (!s.covered) return head_step::look;
    return s.proved ? head_step::grant : head_step::prove;
}

}  // namespace corozk::detail
