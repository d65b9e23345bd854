// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/awaitable.hpp>
#include <corozk/client.hpp>
#include <cstdint>
#include <string>

namespace corozk::bench {

/// A node that stands for a lock, as the two locks below hold it.
class plain_grant {
public:
    plain_grant() = default;
    plain_grant(client& c, created_node node) : client_(&c), node_(std::move(node)) {}

    std::int64_t fencing_token() const noexcept { return node_.stat.czxid; }
    auto release() { return client_->erase(node_.path); }

private:
    client* client_ = nullptr;
    created_node node_;
};

/// The lock of ZooKeeper's recipes page, to the letter: every waiter creates a sequential node, lists
/// the folder, watches the node before its own, and lists again when that one goes. For comparison
/// only: it does not recover from lost answers.
class textbook_lock {
public:
    textbook_lock(client& c, std::string path) : client_(&c), path_(std::move(path)) {}

    static boost::asio::awaitable<void> prepare(client& c, std::string path);

    boost::asio::awaitable<plain_grant> acquire();

private:
    client* client_;
    std::string path_;
};

/// What the page warns of: one ephemeral node, and everybody watches it and wakes up at every
/// release.
class herd_lock {
public:
    herd_lock(client& c, std::string path) : client_(&c), path_(std::move(path) + "/lock") {}

    static boost::asio::awaitable<void> prepare(client& c, std::string path);

    boost::asio::awaitable<plain_grant> acquire();

private:
    client* client_;
    std::string path_;
};

}  // namespace corozk::bench
