// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "systems/json_connection.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// What a lock of etcd's is held by. It is gone when the lease ends.
struct etcd_key {
    etcd_key() = default;

    std::string key;
    std::int64_t revision = 0;  ///< at which it was granted: larger than at each earlier grant
};

/// A leader's key, as resigning wants it.
struct etcd_leader {
    etcd_leader() = default;

    boost::json::object key;
    std::int64_t revision = 0;
};

/// Requests of one client to one etcd server, through the gateway that is a part of it (JSON over
/// HTTP/1.1, which it translates to gRPC). One request at a time.
class etcd_api {
public:
    etcd_api(const boost::asio::any_io_executor& executor, std::uint16_t port)
        : connection_(executor, port) {}

    boost::asio::awaitable<std::int64_t> grant_lease(std::chrono::milliseconds duration);
    boost::asio::awaitable<void> keep_lease_alive(std::int64_t lease);

    /// Returns when it is held: the server waits.
    boost::asio::awaitable<etcd_key> lock(std::string name, std::int64_t lease);
    boost::asio::awaitable<void> unlock(std::string key);

    /// Returns when it leads: the server waits.
    boost::asio::awaitable<etcd_leader> campaign(std::string name, std::int64_t lease);
    boost::asio::awaitable<void> resign(boost::json::object key);

    boost::asio::awaitable<void> put(std::string key, std::string value);
    boost::asio::awaitable<std::string> get(std::string key);

    /// The revision at which a key was made; 0 if there is none.
    boost::asio::awaitable<std::int64_t> create_revision(std::string key);

    /// Writes if `guard` is still the key that was made at this revision. @return whether it did
    boost::asio::awaitable<bool> put_guarded(std::string guard,
                                             std::int64_t create_revision,
                                             std::string key,
                                             std::string value);

    /// How many keys begin so.
    boost::asio::awaitable<std::size_t> count(std::string prefix);

    /// Whether this server leads its cluster.
    boost::asio::awaitable<bool> leads();

    void close() { connection_.close(); }

private:
    boost::asio::awaitable<boost::json::object> find(std::string key);

    json_connection connection_;
};

}  // namespace corozk::bench
