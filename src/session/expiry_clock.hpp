// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/operation.hpp"

#include <algorithm>
#include <chrono>

namespace corozk::detail {

/// Determines when a session must be considered lost without a report by the server. The leader
/// counts, and learns of the requests to other servers twice in a tick. The local deadline counts from
/// the sending of the last answered request for which the leader was needed (see `needs_leader`): a
/// server that has lost it responds to reads for `syncLimit` ticks more. So the local deadline is no
/// later than the leader's, or, if the client was cut off together with its server, by half a tick.
class expiry_clock {
public:
    void start(time_point established, std::chrono::milliseconds timeout) noexcept {
        last_ = established;
        timeout_ = timeout;
        counts_ = true;
    }

    /// Further responses do not extend the session, because the server has no quorum.
    void hold() noexcept { counts_ = false; }

    /// A request that was sent at that time got a response for which the leader was needed. An expired
    /// session does not come back: a recipe may have seen it expired, and is only told of its loss.
    void answered(time_point sent_at, time_point now) noexcept {
        if (counts_ && sent_at > last_ && !expired(now))
            last_ = sent_at;
    }

    time_point deadline() const noexcept { return last_ + timeout_; }

    /// When a server is given up that owes nothing but the response to a request for which the leader
    /// is needed: it may have lost its leader, while others have not, and a third of the timeout is left
    /// to find one. A leader that merely pauses for so long costs the requests in flight, but not the
    /// session, which the servers keep. It has a sixth of the timeout in any case: this process may have
    /// been stopped, and only now have sent the request. It has a third if a sixth is left then, as where
    /// large requests take long on a slow link.
    /// @param awaited_since since when nothing else is owed; the maximum if that is not so
    time_point patience_end(time_point awaited_since) const noexcept {
        return awaited_since == time_point::max()
                   ? awaited_since
                   : std::max({deadline() - timeout_ / 3,
                               awaited_since + timeout_ / 6,
                               std::min(awaited_since + timeout_ / 3, deadline() - timeout_ / 6)});
    }
    bool expired(time_point now) const noexcept { return now >= deadline(); }

private:
    time_point last_{};
    std::chrono::milliseconds timeout_{0};
    bool counts_ = true;
};

}  // namespace corozk::detail
