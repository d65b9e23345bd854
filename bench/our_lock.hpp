// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/awaitable.hpp>
#include <corozk/client.hpp>
#include <corozk/recipe/lock.hpp>
#include <string>

namespace corozk::bench {

/// corozk's lock, in the shape that contests want; adds nothing at run time.
class our_lock {
public:
    our_lock(client& c, const std::string& path) : lock_(c, path) {}

    static boost::asio::awaitable<void> prepare(client&, std::string) { co_return; }

    auto acquire() { return lock_.acquire(); }

private:
    lock lock_;
};

}  // namespace corozk::bench
