// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "c_client/handle.hpp"
#include "c_client/socket_monitor.hpp"

#include <memory>
#include <utility>

namespace corozk::detail {

/// The I/O of a session: its C client, and the socket in the reactor.
class link {
public:
    /// @param ready called when the socket is readable or writable
    link(const boost::asio::any_io_executor& executor, socket_monitor::callback ready);

    /// The C client; null before the first attempt and after the end of a session.
    handle* client() const noexcept { return client_.get(); }
    socket_monitor& socket() noexcept { return socket_; }
    const socket_monitor& socket() const noexcept { return socket_; }

    /// For a new session.
    void use(std::unique_ptr<handle> client) noexcept {
        client_ = std::move(client);
        fresh_ = true;
    }
    bool connected() const noexcept { return client_ && client_->connected(); }
    bool is(handle_state state) const noexcept { return client_ && client_->state() == state; }

    /// The session is established. @return whether for the first time with this C client
    bool established() noexcept { return std::exchange(fresh_, false); }

    /// @return whether connecting was started
    bool connect(const boost::asio::ip::tcp::endpoint& server);

    /// Lets the C client write and read, as far as the socket is ready.
    void process();

    /// Waits for the socket. @return false if the C client has none
    bool follow(const std::shared_ptr<void>& owner);

    /// The C client has reported a change: it may have another socket.
    void changed() noexcept { followed_ = false; }

    /// Drops the connection; requests inside finish with `connection_loss`.
    void drop();

    /// Sends the request that ends the session; wait for `hung_up` afterwards. Not for encrypted
    /// connections: see `handle::part_when_destroyed`. @return false if it cannot be sent
    bool send_close_packet();

    /// Reads and discards. @return whether the server has closed the connection
    bool hung_up();

    std::unique_ptr<handle> take() noexcept { return std::move(client_); }

    /// In the child of a fork, once: the connection belongs to the parent, so it must be neither
    /// written nor read.
    bool leave_to_parent() noexcept;

    /// The execution context is being destroyed.
    void abandon() noexcept;

private:
    std::unique_ptr<handle> client_;
    socket_monitor socket_;
    bool fresh_ = true;      ///< no session was established with this C client
    bool followed_ = false;  ///< the monitor has this connection's socket
    unsigned process_;       ///< the owner of the connection, by `forks()`
};

}  // namespace corozk::detail
