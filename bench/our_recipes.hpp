// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contest.hpp"
#include <corozk/client.hpp>
#include <corozk/recipe/election.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/semaphore.hpp>
#include <corozk/recipe/shared_lock.hpp>

#include <boost/asio/awaitable.hpp>

#include <string>

namespace corozk::bench {

// corozk's recipes in the shape that contests want (see lock_crowd.hpp); they add nothing at run
// time.

/// What is the same for most: one holder, and a folder that the recipe makes by itself.
class our_recipe {
public:
    static boost::asio::awaitable<void> prepare(client&, std::string) { co_return; }
    static std::size_t permits(const contest_setup&) { return 0; }
    bool shared(std::size_t) const { return false; }
};

class our_lock : public our_recipe {
public:
    our_lock(client& c, const std::string& path, const contest_setup&) : lock_(c, path) {}
    auto acquire(std::size_t) { return lock_.acquire(); }

private:
    lock lock_;
};

/// Readers and writers in turn, or writers only.
class our_shared_lock : public our_recipe {
public:
    our_shared_lock(client& c, const std::string& path, const contest_setup& setup)
        : lock_(c, path), readers_(setup.recipe == "shared_lock" ? setup.readers : 0) {}

    /// The first one, which everybody waits for, writes.
    bool shared(std::size_t who) const { return who % (readers_ + 1) != 0; }
    auto acquire(std::size_t who) {
        return shared(who) ? lock_.acquire_read() : lock_.acquire_write();
    }

private:
    shared_lock lock_;
    std::size_t readers_;  ///< behind each writer
};

class our_semaphore : public our_recipe {
public:
    our_semaphore(client& c, const std::string& path, const contest_setup& setup)
        : semaphore_(c, path, static_cast<std::int32_t>(setup.limit)) {}

    static std::size_t permits(const contest_setup& setup) { return setup.limit; }
    bool shared(std::size_t) const { return true; }
    auto acquire(std::size_t) { return semaphore_.acquire(); }

private:
    semaphore semaphore_;
};

/// Each leader acknowledges, then resigns.
class our_election : public our_recipe {
public:
    our_election(client& c, const std::string& path, const contest_setup&) : election_(c, path) {}
    auto acquire(std::size_t) { return election_.campaign(); }
    auto acknowledge(const ownership& term) { return election_.acknowledge(term); }

private:
    election election_;
};

/// Each leader's term is a coroutine that ends at once.
class our_terms : public our_recipe {
public:
    our_terms(client& c, const std::string& path, const contest_setup&) : election_(c, path) {}
    auto acquire(std::size_t) { return election_.campaign(); }
    template <class Body>
    auto run(Body body) {
        return election_.run(std::move(body));
    }

private:
    election election_;
};

}  // namespace corozk::bench
