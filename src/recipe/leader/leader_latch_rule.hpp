// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace corozk::detail {

/// A leader latch: a desired state, and a driver that establishes it.
///
///  1. There is at most one term and one candidacy at a time, both at once only while resigning:
///     the candidacy queues behind the term's node. A candidacy ends when its node is deleted.
///  2. It leads only while a grant of the election is valid, so that there are never two leaders.
///  3. If a term or candidacy ends other than on request, a new candidacy starts as soon as there
///     is a session. Loss of a connection and reconnects have no effect, so that unstable
///     connections do not change the order of candidates.
///  4. It ends only when nothing is left: no term, no candidacy, no release in flight, and no node
///     of a withdrawn candidacy.
///  5. A candidacy begins at a server with a quorum.

struct latch_view {
    bool wanted = false;       ///< should be a candidate or leader
    bool session = false;      ///< nodes can be created in the session
    bool campaigning = false;  ///< there is an undecided candidacy
    bool granted = false;      ///< the candidacy was granted, but the term has not started
    bool leading = false;
    bool lost = false;       ///< the term was lost
    bool resigning = false;  ///< resignation was requested
    bool releasing = false;  ///< a release is not confirmed yet
    bool leaving = false;    ///< the node of a failed candidacy may still exist
};

enum class latch_step : std::uint8_t {
    wait,
    campaign,
    withdraw,  ///< cancel the candidacy
    lead,      ///< start the term
    refuse,    ///< release the grant
    forget,    ///< end the lost term
    release,   ///< release the term
    stop,
};

latch_step decide(const latch_view& v) noexcept;

}  // namespace corozk::detail
