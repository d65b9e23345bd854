// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace corozk::testing::detail {

using deadline = std::chrono::steady_clock::time_point;

inline deadline deadline_in(std::chrono::milliseconds limit) {
    return std::chrono::steady_clock::now() + limit;
}

/**
 * A blocking TCP connection to 127.0.0.1 in which every step has a deadline.
 *
 * Failures of the connection are std::system_error, a passed deadline is timeout_error.
 */
class tcp_socket {
public:
    tcp_socket() = default;
    tcp_socket(std::uint16_t port, deadline until);
    ~tcp_socket();
    tcp_socket(tcp_socket&& other) noexcept;
    tcp_socket& operator=(tcp_socket&& other) noexcept;

    bool is_open() const noexcept { return fd_ >= 0; }
    void close() noexcept;

    /** Sends everything. */
    void send(std::string_view bytes, deadline until);

    /** Tells the peer that nothing more comes. */
    void shutdown_send() noexcept;

    /** Waits for data and returns how much was read; 0 means that the peer has closed. */
    std::size_t receive(char* into, std::size_t capacity, deadline until);

    /** True if the peer has closed or reset the connection, as far as is known now. */
    bool peer_gone() const noexcept;

private:
    void await(short events, deadline until) const;

    int fd_ = -1;
};

}  // namespace corozk::testing::detail
