// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "network/stream.hpp"
#include "wire/conversation.hpp"
#include "wire/jute.hpp"
#include "wire/server_abilities.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace corozk::detail {

struct byte_counts {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
};

/// How SASL authentication has failed.
enum class sasl_failure : std::uint8_t {
    none,
    not_offered,  ///< the server has no SASL, it seems
    own,          ///< this side cannot, as without a Kerberos ticket
    denied,       ///< by the server
};

/// The connection to a server: sends requests, reports their responses and events, and carries the
/// frames of the C client, which keeps the session and never touches the network.
///
/// The C client's socket is replaced by one end of a pair of sockets. What a server sends is
/// checked against what was requested.
class relay {
public:
    using endpoint = boost::asio::ip::tcp::endpoint;
    using callback = std::function<void()>;
    using reception_handler = std::function<void(const reception&)>;

    /// @param ready called, never within a call of the owner, when something has changed
    /// @param received called by `deliver` with the responses to requests, and with events
    static std::unique_ptr<relay> make(stream_factory& streams,
                                       callback ready,
                                       reception_handler received);

    relay() = default;
    relay(const relay&) = delete;
    relay& operator=(const relay&) = delete;
    virtual ~relay() = default;

    /// What was seen in an earlier session does not matter any more.
    virtual void begin_session() noexcept = 0;

    /// Connects to a server, with TLS if the options say so.
    virtual void connect(const endpoint& server, const server_names& names) = 0;

    virtual bool connecting() const noexcept = 0;

    /// Whether the server has accepted the connection, but not yet a TLS handshake.
    virtual bool shaking_hands() const noexcept = 0;

    /// Whether SASL keeps this side busy: it is the server that waits.
    virtual bool authenticating() const noexcept = 0;

    /// There is a connection, but no C client yet: call `attach`.
    virtual bool connected() const noexcept = 0;

    /// Takes the place of the C client's socket. @return false if it cannot
    virtual bool attach(int descriptor) = 0;

    /// Reports what has arrived. @return whether the C client has something to read: a frame, or the
    /// end of the connection
    virtual bool deliver() = 0;

    /// The C client has read a packet.
    virtual void packet_read() noexcept = 0;

    /// The C client has read everything that there was.
    virtual void all_read() noexcept = 0;

    /// Sends what the C client has written, after all requests.
    virtual void collect() = 0;

    /// Between the two a request is written, from its xid on.
    virtual jute_writer& begin_request() = 0;
    virtual void end_request() = 0;

    /// Sends the requests.
    virtual void flush() = 0;

    /// Tells the C client that the server is alive. It does not see the responses, and would give up
    /// the connection.
    virtual void vouch_for_server() = 0;

    /// Whether the server reads nothing at present.
    virtual bool congested() const noexcept = 0;

    /// The last transaction that the server has reported on earlier connections of this session.
    virtual std::int64_t last_zxid() const noexcept = 0;

    /// Whether `deliver` may have something.
    virtual bool input() const noexcept = 0;

    /// When the server has last sent something.
    virtual std::chrono::steady_clock::time_point heard_at() const noexcept = 0;

    /// Waits for input.
    virtual void wait() = 0;

    /// Sends the request that ends the session. Afterwards only its response is looked for.
    /// @return false if there is no connection
    virtual bool send_close_request() = 0;

    /// Sends a request that has no effect.
    virtual void send_ping() = 0;

    /// @return whether the server has closed the connection
    virtual bool hung_up() = 0;

    /// Whether the server has responded to the request that ends the session.
    virtual bool close_confirmed() const noexcept = 0;

    virtual void close() = 0;

    /// What to ask of the servers.
    virtual const server_abilities& abilities() const noexcept = 0;

    /// Whether there is no connection because the TLS settings cannot be used.
    virtual bool unusable_settings() const noexcept = 0;

    /// How SASL authentication has failed on this connection.
    virtual sasl_failure authentication_failure() const noexcept = 0;

    /// Whether the connection has ended as a response was too long.
    virtual bool received_too_much() const noexcept = 0;

    /// Why there is no connection, in words; empty if unknown.
    virtual const std::string& problem() const noexcept = 0;

    /// Of all connections.
    virtual byte_counts bytes() const noexcept = 0;

    /// In the child of a fork: leaves the connection to the parent.
    virtual void leave_to_parent() noexcept = 0;

    /// The execution context is being destroyed; this may outlive it.
    virtual void abandon() noexcept = 0;
};

}  // namespace corozk::detail
