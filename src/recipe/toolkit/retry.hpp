// SPDX-License-Identifier: Apache-2.0
// The retry policy: every driver uses a `retry` to decide whether to send a failed request again.
#pragma once

#include "driver/port.hpp"
#include "driver/task.hpp"
#include "recipe/toolkit/fault.hpp"
#include <corozk/error.hpp>

#include <cstdint>

namespace corozk::detail {

/// The error of operations that are bound to a session that has ended.
error_code end_of_session(const port& p) noexcept;

/// Decides on retries of a request, or of several with the same purpose, and records whether one of
/// them may have been applied although its response was lost. Then neither a long outage nor, unless
/// they are bound to it, the end of the session ends the retries: the outcome must be determined.
class retry {
public:
    /// For requests that are not bound to a session.
    explicit retry(const port& p, retry_policy policy = until_closed) noexcept
        : port_(p), policy_(policy) {}

    /// For requests that are bound to a session (`operation::generation`; 0: none).
    retry(const port& p, std::uint64_t generation, retry_policy policy = in_session) noexcept
        : port_(p), policy_(policy), generation_(generation) {}

    /// Whether to send a failed request again. If only the end of the session or of the client
    /// prevents that, `ec` is replaced by that error: a delayed loop may learn of both at once.
    bool again(error_code& ec) noexcept;
    bool again(error_code&& ec) noexcept { return again(ec); }

    /// Whether there is a session, or the one that the requests are bound to is alive.
    bool possible() const noexcept;

    /// Whether a failed request may have been applied.
    bool doubtful() const noexcept { return doubtful_; }

    /// The session that the requests are bound to; 0: none.
    std::uint64_t generation() const noexcept { return generation_; }

private:
    bool bound() const noexcept { return !policy_.next_session && generation_ != 0; }

    const port& port_;
    retry_policy policy_;
    std::uint64_t generation_ = 0;
    bool doubtful_ = false;
};

/// Waits while the server has no quorum.
task<> quorum_back(port& p);

/// Same as `attempts.again(ec)`, but a server without a quorum does not end the retries: for what must
/// happen.
task<bool> again_until_done(port& p, retry& attempts, error_code& ec);

/// The same only while the outcome of an earlier request is unknown.
task<bool> again_with_quorum(port& p, retry& attempts, error_code& ec);

}  // namespace corozk::detail
