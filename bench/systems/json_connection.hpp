// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace corozk::bench {

/// A connection to an HTTP server of this machine that answers JSON with JSON, and stays open from
/// one request to the next. One request at a time.
class json_connection {
public:
    json_connection(const boost::asio::any_io_executor& executor, std::uint16_t port);
    ~json_connection();
    json_connection(const json_connection&) = delete;
    json_connection& operator=(const json_connection&) = delete;

    /// Connects if it is not connected.
    /// @throws std::runtime_error if the server says that it failed
    /// @throws boost::system::system_error if the connection is lost
    boost::asio::awaitable<boost::json::object> post(std::string path, boost::json::object body);

    /// Ends what is waited for, too.
    void close();

private:
    struct state;
    static boost::asio::awaitable<boost::json::object> exchange(std::shared_ptr<state> s,
                                                                std::string path,
                                                                boost::json::object body);

    std::shared_ptr<state> state_;
};

}  // namespace corozk::bench
