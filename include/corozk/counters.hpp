// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace corozk {

/** @brief What a client did so far; totals over all its sessions. For a monitoring system. */
struct client_counters {
    std::uint64_t requests = 0;           ///< handed to the connection
    std::uint64_t answers = 0;            ///< answered by a server, errors included
    std::uint64_t connection_losses = 0;  ///< requests whose answer never came
    std::uint64_t notifications = 0;      ///< watch events
    std::uint64_t listings = 0;           ///< requests for a node's children
    std::uint64_t connects = 0;           ///< sessions established or resumed on a connection
    std::uint64_t expirations = 0;        ///< sessions lost
    std::uint64_t bytes_sent = 0;         ///< payload of the connection
    std::uint64_t bytes_received = 0;
    std::uint64_t in_flight = 0;  ///< sent and not answered, now
    std::uint64_t queued = 0;     ///< waiting for a connection, now
    std::uint64_t watches = 0;    ///< registered, now

    std::uint64_t grants = 0;               ///< locks, permits and leaderships obtained
    std::chrono::nanoseconds wait_time{0};  ///< from asking to the grant, sum over all grants
    std::chrono::nanoseconds hold_time{0};  ///< from the grant to release or loss, sum
};

}  // namespace corozk
