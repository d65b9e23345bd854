// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/port.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cstddef>
#include <fstream>
#include <netinet/in.h>
#include <random>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace corozk::testing {
namespace {

constexpr int lowest_port = 10'000;
constexpr int attempts = 1'000;

/** The first port that the kernel may give to an outgoing connection. */
int first_ephemeral_port() {
    std::ifstream range{"/proc/sys/net/ipv4/ip_local_port_range"};
    int low = 0;
    return range >> low ? low : 32'768;
}

/**
 * Marks the port as ours: an abstract local address can be bound once on the whole machine, and
 * the kernel forgets it with its last owner. Returns -1 if somebody else has it.
 */
int mark(std::uint16_t port) {
    const std::string name = "corozk-test-port-" + std::to_string(port);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), address.sun_path + 1);  // a leading NUL: abstract
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && ::bind(fd, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
        ::close(fd);
        return -1;
    }
    return fd;
}

bool is_free(std::uint16_t port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return false;
    }
    const int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    // Linux lets two sockets with SO_REUSEADDR share a bound port: only listening shows it.
    const bool free =
        ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        ::listen(fd, 1) == 0;
    ::close(fd);
    return free;
}

}  // namespace

port_reservation::port_reservation() {
    const int low = std::min(lowest_port, std::max(1'024, first_ephemeral_port() - 2'000));
    const int high = std::max(low + 1'000, std::min(first_ephemeral_port() - 1, 65'535));
    std::random_device source;
    std::uniform_int_distribution<int> any{low, high};
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const auto candidate = static_cast<std::uint16_t>(any(source));
        const int fd = mark(candidate);
        if (fd < 0) {
            continue;
        }
        if (is_free(candidate)) {
            mark_ = fd;
            port_ = candidate;
            return;
        }
        ::close(fd);
    }
    throw std::runtime_error{"found no free TCP port on 127.0.0.1"};
}

port_reservation::~port_reservation() {
    if (mark_ >= 0) {
        ::close(mark_);
    }
}

port_reservation::port_reservation(port_reservation&& other) noexcept
    : mark_{std::exchange(other.mark_, -1)}, port_{std::exchange(other.port_, std::uint16_t{0})} {}

port_reservation& port_reservation::operator=(port_reservation&& other) noexcept {
    std::swap(mark_, other.mark_);
    std::swap(port_, other.port_);
    return *this;
}

}  // namespace corozk::testing
