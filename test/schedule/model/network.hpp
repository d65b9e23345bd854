// SPDX-License-Identifier: Apache-2.0
// Between the C clients of this program and the model: who is connected, and what arrives when.
#pragma once

#include "server.hpp"

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace corozk::model {

/// The client's end of a connection.
struct endpoint {
    int descriptor = -1;  ///< the C client's
    int peer = -1;        ///< ours: written to when something arrives, closed when the line is cut
    int connection = 0;
    int port = 0;  ///< of the address: whose it is
    std::deque<answer> arrived;
    bool parted = false;   ///< it has said goodbye by itself: the C client reads no more
    bool refused = false;  ///< which the C client does not know yet
};

class network {
public:
    explicit network(server& s);
    ~network();
    network(const network&) = delete;
    network& operator=(const network&) = delete;

    /// The one that the C client's functions use; null: there is no network.
    static network* current();

    // For the C client and the relay.
    endpoint& open(const std::string& address);
    // Set by the relay, which knows what the C client does not.
    std::string next_address;
    std::int64_t next_seen = 0;  ///< the last zxid of a response to the relay
    void close(endpoint& e);
    /// The one with this descriptor.
    endpoint* endpoint_at(int descriptor);
    /// Whether this new connection is refused: the server has nothing of it then.
    bool refuses(endpoint& e);
    server& servers() { return server_; }

    // For the scheduler.
    endpoint* endpoint_of(int connection);

    /// The next answer reaches the client.
    void deliver(int connection);

    /// The client's socket breaks; what has not been executed is lost, unless it lingers.
    void cut(int connection, bool lingers);

    /// Whoever has this connection is refused when it connects again, once.
    void refuse_next(int connection) { ++refusals_[port_of(connection)]; }

    /// Whether the clients have read what has reached them.
    bool all_is_heard() const;

    /// Connections that the server has closed. @return those, by their ids
    std::vector<int> settle();

    /// Goodbyes that the library wrote to its sockets by itself.
    void take_goodbyes();

    /// The port of the address that a connection was made to.
    static int port_of(int connection) { return connection / connections_of_a_port; }

    /// ms; what the C client's clock says.
    std::function<std::int64_t()> clock;

private:
    /// Whose number a connection gets does not depend on who else connects.
    static constexpr int connections_of_a_port = 30'000;

    server& server_;
    std::map<int, endpoint> endpoints_;  ///< by connection
    std::map<int, int> opened_;          ///< how many, by port
    std::map<int, int> refusals_;        ///< how many to come, by port
};

}  // namespace corozk::model
