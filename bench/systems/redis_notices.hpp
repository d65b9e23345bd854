// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace corozk::bench {

/// What is published on a channel, heard over connections of its own, one for each server.
class redis_notices {
public:
    redis_notices(const boost::asio::any_io_executor& executor,
                  const std::vector<std::uint16_t>& ports,
                  std::string channel);
    ~redis_notices();
    redis_notices(const redis_notices&) = delete;
    redis_notices& operator=(const redis_notices&) = delete;

    boost::asio::awaitable<void> connect();

    /// Returns when all servers have confirmed it.
    boost::asio::awaitable<void> subscribe();

    /// Does not wait for the servers.
    boost::asio::awaitable<void> unsubscribe();

    /// How often a majority of the servers has published something.
    std::size_t count() const;

    /// Waits until `count` is not `seen` any more, at most so long.
    boost::asio::awaitable<void> next(std::size_t seen, std::chrono::milliseconds limit);

    /// Ends what is waited for, too.
    void close();

private:
    struct state;
    static boost::asio::awaitable<void> listen(std::shared_ptr<state> s, std::size_t server);

    std::shared_ptr<state> state_;
};

}  // namespace corozk::bench
