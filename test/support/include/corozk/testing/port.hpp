// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace corozk::testing {

/**
 * @brief A free TCP port of 127.0.0.1, kept apart for this object for as long as it lives.
 *
 * The port lies outside the range from which the kernel takes the ports of outgoing connections.
 * Otherwise a client that keeps trying to reach a dead server could be given the server's port (or
 * even connect to itself), and the server could not be started again.
 *
 * Other reservations, in this process and in others, never give the same port. Nothing listens on
 * the port: other programs could still take it, so binding it may fail.
 *
 * Thread safety: distinct objects are safe.
 */
class port_reservation {
public:
    /** @brief Chooses a port. @throws std::runtime_error if none is free. */
    port_reservation();
    ~port_reservation();

    port_reservation(port_reservation&& other) noexcept;
    port_reservation& operator=(port_reservation&& other) noexcept;

    std::uint16_t port() const noexcept { return port_; }

private:
    int mark_ = -1;
    std::uint16_t port_ = 0;
};

}  // namespace corozk::testing
