// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/duration_histogram.hpp>

#include <cstdint>

namespace corozk {

/**
 * @brief A client's statistics, totalled over all its sessions.
 *
 * @see `prometheus_text`, which exports them to Prometheus.
 */
struct client_counters {
    std::uint64_t requests = 0;           ///< Requests sent.
    std::uint64_t responses = 0;          ///< Responses received, including errors.
    std::uint64_t connection_losses = 0;  ///< Requests without a response, except heartbeats.
    std::uint64_t notifications = 0;      ///< Watch events received.
    std::uint64_t listings = 0;           ///< Requests for a node's children.
    std::uint64_t connects = 0;           ///< Connections that established or resumed a session.
    std::uint64_t expirations = 0;        ///< Sessions lost.
    std::uint64_t bytes_sent = 0;         ///< Of ZooKeeper's protocol, before encryption.
    std::uint64_t bytes_received = 0;     ///< Of ZooKeeper's protocol, after decryption.
    std::uint64_t in_flight = 0;          ///< Requests currently in flight.
    std::uint64_t queued = 0;             ///< Requests currently waiting to be sent.
    std::uint64_t watches = 0;            ///< Watches currently registered.

    /// Locks, permits and leaderships granted, without `priority_lock` and the claims of queues.
    /// With `compatibility` a semaphore's acquisition counts as two: the lock, then the permit.
    std::uint64_t grants = 0;

    duration_histogram request_times;  ///< From sending a request to its response.
    duration_histogram wait_times;     ///< From requesting to the grant, of what `grants` counts.
    duration_histogram hold_times;     ///< From such a grant to release or loss.
};

}  // namespace corozk
