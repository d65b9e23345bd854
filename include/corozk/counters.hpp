// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/duration_histogram.hpp>

#include <cstdint>

namespace corozk {

/**
 * @brief What a client did so far; totals over all its sessions. For a monitoring system.
 *
 * @see `prometheus_text`, which writes them for Prometheus.
 */
struct client_counters {
    std::uint64_t requests = 0;           ///< handed to the connection
    std::uint64_t answers = 0;            ///< answered by a server, errors included
    std::uint64_t connection_losses = 0;  ///< requests whose answer never came
    std::uint64_t notifications = 0;      ///< watch events
    std::uint64_t listings = 0;           ///< requests for a node's children
    std::uint64_t connects = 0;           ///< sessions established or resumed on a connection
    std::uint64_t expirations = 0;        ///< sessions lost
    std::uint64_t bytes_sent = 0;         ///< payload of the connection
    std::uint64_t bytes_received = 0;     ///< From the servers, likewise.
    std::uint64_t in_flight = 0;          ///< sent and not answered, now
    std::uint64_t queued = 0;             ///< waiting for a connection, now
    std::uint64_t watches = 0;            ///< registered, now

    std::uint64_t grants = 0;  ///< locks, permits and leaderships obtained

    duration_histogram request_times;  ///< from sending a request to its answer
    duration_histogram wait_times;     ///< from asking for a lock, permit, ... to the grant
    duration_histogram hold_times;     ///< from the grant to release or loss
};

}  // namespace corozk
