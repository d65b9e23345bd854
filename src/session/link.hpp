// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "c_client/handle.hpp"
#include "c_client/socket_monitor.hpp"

#include <memory>
#include <utility>

namespace corozk::detail {

/// The C client of a session and its socket in the reactor: the I/O of a session.
class link {
public:
    /// @param ready  called when there is something to read or room to write
    link(const boost::asio::any_io_executor& executor, socket_monitor::callback ready);

    /// The C client; there is none before the first attempt and after the end of a session.
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

    /// The session is established. @return whether this is the first time with this C client.
    bool established() noexcept { return std::exchange(fresh_, false); }

    /// @return whether the connection is under way.
    bool connect(const boost::asio::ip::tcp::endpoint& server);

    /// Lets the C client write and read, as far as the socket is ready.
    void process();

    /// Waits for the socket. @return false if the C client has none any more.
    bool follow(const std::shared_ptr<void>& owner);

    /// The C client has reported a change: its socket may be another one.
    void changed() noexcept { followed_ = false; }

    /// Ends the connection; requests inside are answered with `connection_loss`.
    void drop();

    /// Ends the session at the server; then `hung_up` is to be awaited. @return false if it cannot
    /// be sent. Not where the connection is encrypted: see `handle::part_when_destroyed`.
    bool send_close_packet();

    /// Reads what the server still sends. @return whether it has hung up.
    bool hung_up();

    std::unique_ptr<handle> take() noexcept { return std::move(client_); }

    /// In the child of a fork, once: the connection is the parent's. What is written to it would be
    /// taken for the parent's, what is read from it would be missing there.
    bool leave_to_parent() noexcept;

    /// The execution context goes.
    void abandon() noexcept;

private:
    std::unique_ptr<handle> client_;
    socket_monitor socket_;
    bool fresh_ = true;      ///< no session has been established with this C client
    bool followed_ = false;  ///< the socket is the one of this connection
    unsigned process_;       ///< whose connection this is, by `forks()`
};

}  // namespace corozk::detail
