// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/operation.hpp"

#include <chrono>

namespace corozk::detail {

/// Determines when a session must be considered lost without a report by the server. The server's
/// deadline counts at the earliest from the receipt of the last request that it answered. Counted
/// from the sending of that request, the local deadline is never later, provided that the server is in
/// touch with its leader, which counts: a follower notices only after `syncLimit` ticks that it is not,
/// and responds to reads until then.
class expiry_clock {
public:
    void start(time_point established, std::chrono::milliseconds timeout) noexcept {
        last_ = established;
        timeout_ = timeout;
        counts_ = true;
    }

    /// Further responses do not extend the session, because the server has no quorum.
    void hold() noexcept { counts_ = false; }

    /// A request that was sent at that time got its response.
    void answered(time_point sent_at) noexcept {
        if (counts_ && sent_at > last_)
            last_ = sent_at;
    }

    time_point deadline() const noexcept { return last_ + timeout_; }
    bool expired(time_point now) const noexcept { return now >= deadline(); }

private:
    time_point last_{};
    std::chrono::milliseconds timeout_{0};
    bool counts_ = true;
};

}  // namespace corozk::detail
