// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contest.hpp"
#include <corozk/client.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string>

namespace corozk::bench {

/// A node that stands for a lock, as the locks below hold it.
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

/// What the three below have in common. For comparison only: they do not recover from lost answers.
class plain_recipe {
public:
    static boost::asio::awaitable<void> prepare(client& c, std::string path);
    static std::size_t permits(const contest_setup&) { return 0; }
    bool shared(std::size_t) const { return false; }

    /// How many have looked at the server, seen that they have to wait, and wait.
    std::size_t waiting() const noexcept { return waiting_; }

protected:
    plain_recipe(client& c, std::string path) : client_(&c), path_(std::move(path)) {}

    boost::asio::awaitable<created_node> enter();

    /// One more of `waiting`, as long as this lives.
    class counted {
    public:
        explicit counted(std::size_t& number) : number_(number) { ++number_; }
        ~counted() { --number_; }
        counted(const counted&) = delete;
        counted& operator=(const counted&) = delete;

    private:
        std::size_t& number_;
    };

    client* client_;
    std::string path_;
    std::size_t waiting_ = 0;
};

/// The lock (and the election) of ZooKeeper's recipes page, to the letter: every waiter creates a
/// sequential node, lists the folder, watches the node before its own, and lists again when that
/// one goes.
class textbook_lock : public plain_recipe {
public:
    textbook_lock(client& c, std::string path, const contest_setup&)
        : plain_recipe(c, std::move(path)) {}

    boost::asio::awaitable<plain_grant> acquire(std::size_t);
};

/// What the page warns of: one ephemeral node, and everybody watches it and wakes up at every
/// release.
class herd_lock : public plain_recipe {
public:
    herd_lock(client& c, std::string path, const contest_setup&)
        : plain_recipe(c, std::move(path) + "/lock") {}

    boost::asio::awaitable<plain_grant> acquire(std::size_t);
};

/// The page's other warning, about elections: every candidate has a node and watches the smallest
/// one, and all list the folder when that one goes.
class herd_election : public plain_recipe {
public:
    herd_election(client& c, std::string path, const contest_setup&)
        : plain_recipe(c, std::move(path)) {}

    boost::asio::awaitable<plain_grant> acquire(std::size_t);
};

}  // namespace corozk::bench
