// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "c_client/tcp_bytes.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <sys/types.h>
#include <utility>

namespace corozk::detail {

/// Watches the C client's socket in the reactor.
///
/// The C client owns the socket: within any call it may close it and open another, often with the
/// same number. So the reactor gets a duplicate, and a change is detected by the socket's identity,
/// which cannot be reused while the duplicate is open.
///
/// Each wait for writability has its own duplicate: a descriptor that was once waited on for that
/// would keep causing spurious wake-ups.
class socket_monitor {
public:
    using callback = std::function<void()>;

    /// @param ready  called when the socket has become readable or writable
    socket_monitor(const boost::asio::any_io_executor& executor, callback ready)
        : descriptor_(std::in_place, executor),
          write_descriptor_(std::in_place, executor),
          ready_(std::move(ready)) {}

    /// Sets the C client's current socket (-1: none). Closes the duplicate of the previous one.
    void follow(int descriptor);

    void close();

    /// The execution context is being destroyed; this may outlive it.
    void abandon() {
        close();
        descriptor_.reset();
        write_descriptor_.reset();
    }

    /// In the child of a fork: `close` would remove the socket from the parent's reactor, too,
    /// unless the child has its own.
    void leave_to_parent() noexcept;

    /// Unless already waiting or ready. The wait keeps `owner` alive.
    void wait_readable(const std::shared_ptr<void>& owner);
    void wait_writable(const std::shared_ptr<void>& owner);

    bool readable() const noexcept { return read_ == wait_type::ready; }

    /// Resets readiness. @return whether it was ready
    bool take_readable() noexcept { return take(read_); }
    bool take_writable() noexcept { return take(write_); }
    void take_readiness() noexcept {
        take(read_);
        take(write_);
    }

    bool open() const noexcept { return descriptor_ && descriptor_->is_open(); }
    int native() noexcept { return open() ? descriptor_->native_handle() : -1; }

    /// Holds back small packets until the next call with false.
    void cork(bool on) noexcept;

    /// The total of all connections.
    byte_counts bytes() const noexcept;

private:
    enum class wait_type : std::uint8_t { none, pending, ready };

    static bool take(wait_type& wait) noexcept {
        bool ready = wait == wait_type::ready;
        if (ready)
            wait = wait_type::none;
        return ready;
    }
    bool same_socket(int descriptor) const noexcept;
    byte_counts current_bytes() const noexcept;

    mutable std::optional<boost::asio::posix::stream_descriptor> descriptor_;
    std::optional<boost::asio::posix::stream_descriptor> write_descriptor_;
    callback ready_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
    std::uint64_t epoch_ = 0;  ///< waits for earlier sockets are ignored
    wait_type read_ = wait_type::none;
    wait_type write_ = wait_type::none;
    byte_counts finished_;
};

}  // namespace corozk::detail
