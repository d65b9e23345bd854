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
};

class network {
public:
    explicit network(server& s);
    ~network();
    network(const network&) = delete;
    network& operator=(const network&) = delete;

    /// The one that the C client's functions use; null: there is no network.
    static network* current();

    // For the C client.
    endpoint& open(const std::string& address);
    void close(endpoint& e);
    server& servers() { return server_; }

    // For the scheduler.
    endpoint* endpoint_of(int connection);

    /// The next answer reaches the client.
    void deliver(int connection);

    /// The client's socket breaks; what has not been executed is lost, unless it lingers.
    void cut(int connection, bool lingers);

    /// Packets that the client wrote to the socket by itself, and connections that the server has
    /// closed.
    void settle();

    /// ms; what the C client's clock says.
    std::function<std::int64_t()> clock;

private:
    server& server_;
    std::map<int, endpoint> endpoints_;  ///< by connection
};

}  // namespace corozk::model
