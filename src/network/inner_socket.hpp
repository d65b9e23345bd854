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

    /// @return the number of bytes for which there was room
    std::size_t write(std::span<const unsigned char> data) noexcept {
        ssize_t n = open() ? ::send(descriptor_, data.data(), data.size(), MSG_NOSIGNAL) : 0;
        return n > 0 ? static_cast<std::size_t>(n) : 0;
    }

    void close() noexcept {
        if (open())
            ::close(std::exchange(descriptor_, -1));
    }

    /// The C client reads the end, even while the child of a fork has this descriptor, too.
    void end() noexcept {
        if (open())
            ::shutdown(descriptor_, SHUT_RDWR);
        close();
    }

private:
    int descriptor_ = -1;
};

/// Checked frames on their way to the C client, which reads them packet by packet.
class delivery {
public:
    using bytes = std::span<const unsigned char>;

    explicit delivery(inner_socket& to) noexcept : to_(to) {}

    /// The frame follows the ones before it in memory, and stays there until `waits_for_memory`
    /// is false. @return false if it does not follow them
    bool add(bytes frame) noexcept {
        if (!unsent_.empty() && unsent_.data() + unsent_.size() != frame.data())
            return false;
        unsent_ = unsent_.empty() ? frame : bytes(unsent_.data(), unsent_.size() + frame.size());
        ++unread_;
        return true;
    }

    /// Sends as much as there is room for. @return whether the C client has something to read
    bool go_on() noexcept {
        if (readable())
            return true;
        std::size_t n = unsent_.empty() ? 0 : to_.write(unsent_);
        unsent_ = unsent_.subspan(n);
        drained_ = n == 0;
        return n > 0;
    }

    bool readable() const noexcept { return unread_ > 0 && !drained_; }
    bool waits_for_memory() const noexcept { return !unsent_.empty(); }
    bool all_read() const noexcept { return unread_ == 0; }

    // What the C client reports.
    void packet_read() noexcept {
        if (unread_ > 0)
            --unread_;
    }
    void nothing_left() noexcept {
        drained_ = true;
        if (unsent_.empty())
            unread_ = 0;
    }

    void clear() noexcept {
        unsent_ = {};
        unread_ = 0;
        drained_ = true;
    }

private:
    inner_socket& to_;
    bytes unsent_;
    std::size_t unread_ = 0;  ///< frames
    bool drained_ = true;     ///< the C client has read all that was sent
};

}  // namespace corozk::detail
