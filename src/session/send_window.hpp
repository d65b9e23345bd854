// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/operation.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace corozk::detail {

/// How many requests may be without a response. Responses arrive in order: behind much data on a slow
/// connection, those to the heartbeats come too late for the session. No I/O.
class send_window {
public:
    /// More would only increase buffers, as the server is the bottleneck.
    static constexpr std::size_t largest = 2048;

    /// With fewer, waiting for responses would take longer than the data.
    static constexpr std::size_t smallest = 8;

    std::size_t size() const noexcept { return size_; }

    /// A response has arrived: one that took long halves the window, at most once for those that were
    /// sent before; quick ones open it, to twice its size in a round trip.
    void answered(time_point sent, time_point arrived, std::chrono::milliseconds session) noexcept {
        const steady_clock::duration took = arrived - sent;
        if (took > session / 6) {
            if (sent >= narrowed_)
                narrow(size_ / 2, arrived);
        } else if (took < session / 20 && size_ < largest) {
            ++size_;
        }
    }

    /// The session was lost although the server was sending, with so many requests without a response.
    void overwhelmed(std::size_t in_flight, time_point now) noexcept {
        if (in_flight > smallest)
            narrow(std::min(in_flight, size_) / 4, now);
    }

private:
    void narrow(std::size_t size, time_point now) noexcept {
        size_ = std::max(size, smallest);
        narrowed_ = now;
    }

    std::size_t size_ = largest;
    time_point narrowed_{};  ///< when it became smaller last
};

}  // namespace corozk::detail
