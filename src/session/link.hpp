// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "c_client/handle.hpp"
#include "network/relay.hpp"
#include "network/stream.hpp"
#include "session/arrival.hpp"

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk::detail {

/// The I/O of a session: the relay, which is the connection to the server, and the C client.
class link {
public:
    /// @param inbox where responses and events arrive
    /// @param ready called when there is input, or the connection has changed
    link(const boost::asio::any_io_executor& executor,
         const client_options& options,
         std::vector<arrival>& inbox,
         relay::callback ready);

    /// The C client; null before the first attempt and after the end of a session.
    handle* client() const noexcept { return client_.get(); }

    /// Of the connection, and of others to the same ensemble.
    stream_factory& streams() noexcept { return streams_; }

    /// The connection; what concerns the C client, too, goes through this class.
    relay& wire() const noexcept { return *relay_; }

    /// For a new session.
    void use(std::unique_ptr<handle> client) noexcept {
        client_ = std::move(client);
        relay_->begin_session();
        fresh_ = true;
    }
    bool connected() const noexcept { return client_ && client_->connected(); }
    bool is(handle_state state) const noexcept { return client_ && client_->state() == state; }

    /// The session is established. @return whether for the first time with this C client
    bool established() noexcept { return std::exchange(fresh_, false); }

    /// Whether the server of this connection is cut off from its quorum.
    bool read_only() const noexcept { return is(handle_state::read_only); }

    /// When the C client has last requested its session: what the server knows of it is not older.
    time_point requested_at() const noexcept { return requested_at_; }

    /// Starts to connect.
    void connect(const boost::asio::ip::tcp::endpoint& server, const server_names& names) {
        given_up_.clear();
        server_ = server.address().to_string() + ":" + std::to_string(server.port());
        relay_->connect(server, names);
    }

    /// Reads what has arrived.
    void process();

    /// Whether the server knows it, in one form or another.
    bool can_ask(const operation& op) const noexcept;

    /// Writes a request. @return false, with `op.error` set, if the server does not know it
    bool submit(operation& op);

    /// Lets the C client send pings, and detect timeouts until the session is established, with the
    /// next `wait`.
    void look_after_client();

    /// Waits for input. @return false if there is no connection, and none is being made
    bool wait();

    /// Drops the connection; requests in flight finish with `connection_loss`.
    void drop();

    /// Drops the connection as `drop` does; the C client's report of it follows.
    void give_up(std::string why);

    /// Closes the relay's connection to the server.
    void close();

    /// Why there is no connection, in words.
    std::string problem() const;

    /// Sends the request that ends the session; wait until the server has hung up.
    /// @return false if there is no connection
    bool send_close_request();

    std::unique_ptr<handle> take() noexcept { return std::move(client_); }

    /// In the child of a fork, once: the connection belongs to the parent, so it must be neither
    /// written nor read.
    bool leave_to_parent() noexcept;

    /// The execution context is being destroyed.
    void abandon() noexcept;

private:
    void received(const reception& what);
    bool start();
    void finish(std::deque<operation*>& from, const reception& what);

    stream_factory streams_;
    std::unique_ptr<handle> client_;
    std::unique_ptr<relay> relay_;
    std::vector<arrival>& inbox_;
    std::deque<operation*> sent_;         ///< in the order of their responses
    std::deque<operation*> credentials_;  ///< responses come as soon as the server has read them
    std::string server_;                  ///< of this connection
    std::string given_up_;                ///< why, if this side has ended the connection
    time_point requested_at_{};           ///< the session, on this connection
    bool fresh_ = true;                   ///< no session was established with this C client
    bool look_after_client_ = false;
    unsigned process_;  ///< the owner of the connection, by `forks()`
};

}  // namespace corozk::detail
