// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <fcntl.h>
#include <span>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace corozk::detail {

/// The relay's end of the pair of sockets whose other end is the C client's.
class inner_socket {
public:
    inner_socket() = default;
    inner_socket(const inner_socket&) = delete;
    inner_socket& operator=(const inner_socket&) = delete;
    ~inner_socket() { close(); }

    bool open() const noexcept { return descriptor_ >= 0; }

    /// Makes a pair and puts its other end in the place of `descriptor`.
    bool replace(int descriptor) noexcept {
        close();
        int pair[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0)
            return false;
        bool replaced = ::dup3(pair[1], descriptor, O_CLOEXEC) == descriptor;
        ::close(pair[1]);
        descriptor_ = pair[0];
        if (!replaced)
            close();
        return replaced;
    }

    /// @return the number of bytes, 0 if there are none
    std::size_t read(std::span<unsigned char> into) noexcept {
        ssize_t n = open() ? ::recv(descriptor_, into.data(), into.size(), 0) : 0;
        return n > 0 ? static_cast<std::size_t>(n) : 0;
    }

    /// A few small frames: there is always room for them.
    void write(std::span<const unsigned char> frame) noexcept {
        if (open() && ::send(descriptor_, frame.data(), frame.size(), MSG_NOSIGNAL) !=
                          static_cast<ssize_t>(frame.size()))
            end();
        ++unread_;
    }

    /// Whether the C client has not read all frames.
    bool unread() const noexcept { return unread_ > 0; }
    void frame_read() noexcept {
        if (unread_ > 0)
            --unread_;
    }
    void all_read() noexcept { unread_ = 0; }

    void close() noexcept {
        if (open())
            ::close(std::exchange(descriptor_, -1));
        unread_ = 0;
    }

    /// The C client reads the end, even while the child of a fork has this descriptor, too.
    void end() noexcept {
        if (open())
            ::shutdown(descriptor_, SHUT_RDWR);
        close();
    }

private:
    int descriptor_ = -1;
    std::size_t unread_ = 0;  ///< frames
};

}  // namespace corozk::detail
