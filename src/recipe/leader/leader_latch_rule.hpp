// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace corozk::detail {

/// A leader latch. What is wanted is a state, and one driver brings us there.
///
///  1. There is at most one term and at most one candidacy at a time, and a second candidacy beside
///     a term only while we resign: it queues behind the term's node. A candidacy has ended when
///     its node is gone.
///  2. It leads only with a grant of the election, and no longer than that is valid: so what holds
///     of the election (never two leaders) holds of its latches.
///  3. The end of a term or of a candidacy that was not our wish is answered by a new candidacy,
///     once there is a session; nothing is done because a connection was lost or came back. So
///     connections that bounce move nobody in the queue.
///  4. It ends only when nothing of it is left: no term, no candidacy, no release under way, no
///     node of a candidacy that was withdrawn.
///  5. Nothing is asked of a server without a quorum: a candidacy waits for another one.

struct latch_view {
    bool wanted = false;       ///< to be a candidate or leader
    bool session = false;      ///< there is one in which nodes can be created
    bool campaigning = false;  ///< a candidacy that has not been decided
    bool granted = false;      ///< the candidacy has been won, and not been taken up yet
    bool leading = false;
    bool lost = false;       ///< the term was
    bool resigning = false;  ///< wished for
    bool releasing = false;  ///< a release that was not confirmed yet
    bool leaving = false;    ///< a candidacy that has failed and may have left its node
};

enum class latch_step : std::uint8_t {
    wait,
    campaign,
    withdraw,  ///< cancel the candidacy
    lead,      ///< take the grant up
    refuse,    ///< give the grant back
    forget,    ///< the term is lost
    release,   ///< the term
    stop,
};

latch_step decide(const latch_view& v) noexcept;

}  // namespace corozk::detail
