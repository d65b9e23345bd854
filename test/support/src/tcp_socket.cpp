// SPDX-License-Identifier: Apache-2.0

#include "tcp_socket.hpp"

#include "corozk/testing/error.hpp"
#include "system_failure.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <limits>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace corozk::testing::detail {

tcp_socket::tcp_socket(std::uint16_t port, deadline until)
    : fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)} {
    if (fd_ < 0) {
        fail(errno, "cannot make a socket");
    }
    try {
        const int on = 1;
        ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        const std::string what = "cannot connect to 127.0.0.1:" + std::to_string(port);
        if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
            if (errno != EINPROGRESS) {
                fail(errno, what);
            }
            await(POLLOUT, until);
            int error = 0;
            socklen_t size = sizeof error;
            ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
            if (error != 0) {
                fail(error, what);
            }
        }
    } catch (...) {
        close();
        throw;
    }
}

tcp_socket::~tcp_socket() {
    close();
}

tcp_socket::tcp_socket(tcp_socket&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}

tcp_socket& tcp_socket::operator=(tcp_socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}

void tcp_socket::close() noexcept {
    if (fd_ >= 0) {
        ::close(std::exchange(fd_, -1));
    }
}

void tcp_socket::await(short events, deadline until) const {
    for (;;) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        const auto wait = std::clamp<std::chrono::milliseconds::rep>(
            left.count(), 0, std::numeric_limits<int>::max());
        pollfd ready{.fd = fd_, .events = events, .revents = 0};
        const int count = ::poll(&ready, 1, static_cast<int>(wait));
        if (count > 0) {
            return;
        }
        if (count == 0) {
            throw timeout_error{"no answer from the server in time"};
        }
        if (errno != EINTR) {
            fail(errno, "poll failed");
        }
    }
}

void tcp_socket::send(std::string_view bytes, deadline until) {
    while (!bytes.empty()) {
        const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        } else if (errno == EAGAIN) {
            await(POLLOUT, until);
        } else if (errno != EINTR) {
            fail(errno, "cannot send to the server");
        }
    }
}

void tcp_socket::shutdown_send() noexcept {
    ::shutdown(fd_, SHUT_WR);
}

std::size_t tcp_socket::receive(char* into, std::size_t capacity, deadline until) {
    for (;;) {
        const auto got = ::recv(fd_, into, capacity, 0);
        if (got >= 0) {
            return static_cast<std::size_t>(got);
        }
        if (errno == EAGAIN) {
            await(POLLIN, until);
        } else if (errno != EINTR) {
            fail(errno, "cannot receive from the server");
        }
    }
}

bool tcp_socket::peer_gone() const noexcept {
    if (fd_ < 0) {
        return true;
    }
    pollfd state{.fd = fd_, .events = POLLIN | POLLRDHUP, .revents = 0};
    return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace corozk::testing::detail
