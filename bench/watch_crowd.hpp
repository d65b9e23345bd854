// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>
#include <corozk/watch.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace corozk::bench {

/// Many watches of one client, and somebody who waits for each of them.
class watch_crowd {
public:
    watch_crowd(client& c, std::string folder, std::size_t count)
        : client_(c), folder_(std::move(folder)), watches_(count) {}
    watch_crowd(const watch_crowd&) = delete;
    watch_crowd& operator=(const watch_crowd&) = delete;

    /// The nodes to watch.
    boost::asio::awaitable<void> create_nodes();

    /// Watches all of them and begins to wait.
    boost::asio::awaitable<void> set();

    /// Changes all nodes through another client.
    boost::asio::awaitable<void> touch(client& other);

    std::size_t woken() const noexcept { return woken_; }
    std::size_t size() const noexcept { return watches_.size(); }

private:
    std::string path(std::size_t number) const;

    /// Starts `start(i, done)` for all, not too many at a time.
    template <class Start>
    boost::asio::awaitable<void> for_all(Start start);

    client& client_;
    std::string folder_;
    std::vector<watch> watches_;
    std::size_t woken_ = 0;
};

}  // namespace corozk::bench
