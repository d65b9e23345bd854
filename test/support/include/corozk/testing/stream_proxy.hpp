// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/fault_proxy.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace corozk::testing {

/**
 * @brief A TCP proxy on free ports of 127.0.0.1 that knows nothing of what it passes on, and can hold it
 * back, delay it, or end or silence a connection at any byte.
 *
 * For what a fault_proxy cannot understand: traffic between servers, TLS and SASL, and parts of frames.
 * What was held back is passed on later, in order.
 *
 * Runs on a thread of its own. Thread safety: all members may be called from any thread. When a member
 * returns, its effect is in place.
 */
class stream_proxy {
public:
    /**
     * @brief Listens on so many ports; connections for which there is no server yet are closed.
     *
     * Several look like several servers: after a failure at one a client tries the next at once.
     */
    explicit stream_proxy(std::size_t ports = 1);

    /** @brief Cuts all connections. */
    ~stream_proxy();

    stream_proxy(const stream_proxy&) = delete;
    stream_proxy& operator=(const stream_proxy&) = delete;

    /** @brief The first port for clients; the same for the proxy's life. */
    std::uint16_t port() const noexcept;

    /** @brief "127.0.0.1:port,...": all of them. */
    std::string hosts() const;

    /** @brief Connects new connections to this port from now on. */
    void forward_to(std::uint16_t server_port);

    /**
     * @brief Begins or ends holding back what is sent in one direction, on all connections.
     *
     * What is sent after the return of `hold(way, true)` does not arrive before `hold(way, false)`. Little of
     * it is read, so that who sends much has to wait. The other direction passes all the time.
     */
    void hold(direction way, bool on);

    /**
     * @brief On connections that are made from now on, everything in this direction arrives so much later,
     * and the end of the connection, too; zero ends it.
     *
     * However much is on its way, nobody has to wait until he can send. Not for connections that `cut_next`
     * or `silence_next` is for.
     */
    void set_delay(direction way, std::chrono::milliseconds duration);

    /** @brief Ends all connections. */
    void cut();

    /** @brief The next connection ends when so many bytes have passed in this direction. */
    void cut_next(direction way, std::size_t after, cut_style how);

    /**
     * @brief When so many bytes have passed in this direction of the next connection, nothing passes any
     * more, either way. It stays open until the client closes it, and what the client sends is lost.
     */
    void silence_next(direction way, std::size_t after);

    /** @brief How many connections were made. */
    std::size_t connections() const;

    /** @brief For how many of them the end has come that `cut_next` or `silence_next` wants. */
    std::size_t cuts() const;

    /** @brief How many bytes have passed, on all connections. */
    std::size_t passed(direction way) const;

private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace corozk::testing
