// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/operation.hpp"

#include <chrono>

namespace corozk::detail {

/// When a session must be taken for lost although the server did not say so. The server begins to
/// count at the earliest when it received the last request that it answered, which is not before it
/// was sent: counted from the sending, our clock never runs behind the server's.
class expiry_clock {
public:
    void start(time_point established, std::chrono::milliseconds timeout) noexcept {
        last_ = established;
        timeout_ = timeout;
        counts_ = true;
    }

    /// What is answered from now on does not keep the session: the server has no quorum.
    void hold() noexcept { counts_ = false; }

    /// A request that was sent at that time has been answered.
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
