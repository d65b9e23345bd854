// SPDX-License-Identifier: Apache-2.0
#include "network.hpp"

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace corozk::model {

namespace {

network* the_network = nullptr;

/// "127.0.0.<n>:..." leads to the n-th server; the first is the leader.
std::size_t server_at(const std::string& address) {
    std::size_t colon = address.find(':');
    std::size_t dot = address.rfind('.', colon);
    return static_cast<std::size_t>(std::stoul(address.substr(dot + 1, colon - dot - 1))) - 1;
}

}  // namespace

network::network(server& s) : server_(s) {
    the_network = this;
}

network::~network() {
    for (auto& [id, e] : endpoints_) {
        ::close(e.descriptor);
        if (e.peer >= 0)
            ::close(e.peer);
    }
    the_network = nullptr;
}

network* network::current() {
    return the_network;
}

endpoint& network::open(const std::string& address) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0)
        throw std::runtime_error("no socket");
    int port = std::stoi(address.substr(address.find(':') + 1));
    int before = opened_[port]++;
    int id = port * connections_of_a_port + before % connections_of_a_port;
    // A client that has lost its connection goes to the next server.
    std::size_t at = server_at(address) + static_cast<std::size_t>(before);
    connection& c = server_.connect(at % server_.servers(), id);
    endpoint& e = endpoints_[c.id];
    e.descriptor = pair[0];
    e.peer = pair[1];
    e.connection = c.id;
    e.port = port;
    return e;
}

void network::close(endpoint& e) {
    ::close(e.descriptor);
    if (e.peer >= 0)
        ::close(e.peer);
    int id = e.connection;
    endpoints_.erase(id);
    connection* c = server_.find(id);
    if (c && !c->client_gone)
        server_.hang_up(*c);
}

bool network::refuses(endpoint& e) {
    int& left = refusals_[e.port];
    if (left == 0)
        return false;
    --left;
    e.refused = true;
    server_.hang_up(*server_.find(e.connection));
    return true;
}

bool network::all_is_heard() const {
    return std::all_of(endpoints_.begin(), endpoints_.end(), [](const auto& known) {
        return known.second.arrived.empty();
    });
}

endpoint* network::endpoint_of(int connection) {
    auto it = endpoints_.find(connection);
    return it == endpoints_.end() ? nullptr : &it->second;
}

endpoint* network::endpoint_at(int descriptor) {
    auto it = std::find_if(endpoints_.begin(), endpoints_.end(), [descriptor](const auto& known) {
        return known.second.descriptor == descriptor;
    });
    return it == endpoints_.end() ? nullptr : &it->second;
}

void network::deliver(int connection_id) {
    connection& c = *server_.find(connection_id);
    endpoint& e = *endpoint_of(connection_id);
    if (!e.parted)
        e.arrived.push_back(std::move(c.answers.front()));
    c.answers.pop_front();
    char byte = 1;
    if (::send(e.peer, &byte, 1, MSG_NOSIGNAL) != 1)
        throw std::runtime_error("the model's socket is full");
}

void network::cut(int connection_id, bool lingers) {
    endpoint& e = *endpoint_of(connection_id);
    ::close(e.peer);
    e.peer = -1;
    if (connection* c = server_.find(connection_id))
        server_.hang_up(*c, lingers);
}

std::vector<int> network::settle() {
    std::vector<int> over;
    for (auto& [id, e] : endpoints_) {
        if (e.peer < 0)
            continue;
        connection* c = server_.find(id);
        if (!c || (c->server_gone && c->answers.empty()))
            over.push_back(id);
    }
    for (int id : over)
        cut(id, false);
    return over;
}

void network::take_goodbyes() {
    for (auto& [id, e] : endpoints_) {
        char bytes[64];
        connection* c = server_.find(id);
        if (e.peer >= 0 && c && ::recv(e.peer, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
            server_.send(*c, request(verb::close));
            e.parted = true;
        }
    }
}

}  // namespace corozk::model
