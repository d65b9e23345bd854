// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/client.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <string>

namespace corozk::bench {

/// A member of the double barrier of ZooKeeper's recipes page, to the letter: to enter, each
/// watches `ready` and lists the members; to leave, each lists them, and waits for the lowest or
/// the highest. For comparison only: it does not recover from lost answers, and is used once.
class plain_barrier {
public:
    /// The folder is there.
    plain_barrier(client& c, std::string path, std::size_t size, std::string name)
        : client_(&c), path_(std::move(path)), size_(size), name_(std::move(name)) {}

    boost::asio::awaitable<void> enter();
    boost::asio::awaitable<void> leave();

private:
    client* client_;
    std::string path_;
    std::size_t size_;
    std::string name_;
};

}  // namespace corozk::bench
