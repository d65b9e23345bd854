// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>

namespace corozk::testing {

/**
 * @brief A TCP proxy on a free port of 127.0.0.1 that knows nothing of what it passes on, and can
 * hold back what the server says.
 *
 * For traffic between servers, which has no frames that a fault_proxy could understand. Nothing is
 * lost: what was held back is passed on later, in order.
 *
 * Runs on a thread of its own. Thread safety: all members may be called from any thread.
 */
class stream_proxy {
public:
    /** @brief Listens; connections for which there is no server yet are closed. */
    stream_proxy();

    /** @brief Cuts all connections. */
    ~stream_proxy();

    stream_proxy(const stream_proxy&) = delete;
    stream_proxy& operator=(const stream_proxy&) = delete;

    /** @brief The port for clients; the same for the proxy's life. */
    std::uint16_t port() const noexcept;

    /** @brief Connects new connections to this port from now on. */
    void forward_to(std::uint16_t server_port);

    /**
     * @brief Begins or ends holding back what the server sends, on all connections.
     *
     * What the server sends after the return of `hold_answers(true)` does not arrive before
     * `hold_answers(false)`. What the client sends passes all the time.
     */
    void hold_answers(bool on);

private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace corozk::testing
