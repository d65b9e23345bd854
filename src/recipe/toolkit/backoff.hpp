// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/signal.hpp"
#include "driver/task.hpp"

#include <chrono>

namespace corozk::detail {

/// Random pauses for clients that compete for the same node. Of simultaneous attempts all but one
/// fail, so each needs a gap of a round trip. Pauses proportional to the number of competitors
/// provide such gaps.
class backoff {
public:
    /// @param round_trip the initial estimate of an attempt's duration
    explicit backoff(std::chrono::nanoseconds round_trip) noexcept : round_trip_(round_trip) {}

    /// Number of recent failures, as an estimate of the number of competitors.
    unsigned failures() const noexcept { return failures_; }

    /// Whether to let others go first: the more failures, the more likely, up to three of four times.
    bool gives_way(port& p) const;

    void failed() noexcept;
    void succeeded() noexcept;
    void measured(std::chrono::nanoseconds round_trip) noexcept;

    /// Waits for a random fraction of `round_trips`, or until `over()` or the client is closed.
    template <class Over>
    task<> pause(port& p, signal& wake, unsigned round_trips, Over over) const {
        return wait(p, wake, random_delay(p, round_trips), over);
    }

    /// Same as above, for a certain time.
    template <class Over>
    static task<> wait(port& p, signal& wake, steady_clock::duration time, Over over) {
        alarm timer(p, wake);
        timer.set(p.now() + time);
        while (!timer.rang() && !over() && p.status().state != session_state::closed)
            co_await wake.wait();
    }

    /// How long so many round trips take; a pause is not longer than `longest_pause`.
    steady_clock::duration time_of(unsigned round_trips) const;

private:
    steady_clock::duration random_delay(port& p, unsigned round_trips) const;

    std::chrono::nanoseconds round_trip_;
    unsigned failures_ = 0;
};

}  // namespace corozk::detail
