// SPDX-License-Identifier: Apache-2.0
#include "erase_tree.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>

namespace corozk::bench {

namespace {

/// Erases all children that have none themselves, many at a time. @return whether any had some.
boost::asio::awaitable<bool> erase_leaves(client& c, std::string path, node_children children) {
    auto executor = co_await boost::asio::this_coro::executor;
    struct progress {
        std::size_t left = 0;
        bool some_stay = false;
    };
    auto state = std::make_shared<progress>();
    boost::asio::steady_timer pause(executor);
    for (const auto& name : children.names) {
        ++state->left;
        c.erase(path + '/' + name, any_version, [state](error_code ec) {
            --state->left;
            if (ec == zk_errc::not_empty)
                state->some_stay = true;
        });
    }
    while (state->left > 0) {
        pause.expires_after(std::chrono::milliseconds(5));
        co_await pause.async_wait(boost::asio::use_awaitable);
    }
    co_return state->some_stay;
}

}  // namespace

boost::asio::awaitable<void> erase_tree(client& c, std::string path) {
    auto tuple = boost::asio::as_tuple(boost::asio::use_awaitable);
    auto [missing, children] = co_await c.children(path, tuple);
    if (missing)
        co_return;
    if (co_await erase_leaves(c, path, children)) {
        auto [gone, rest] = co_await c.children(path, tuple);
        if (gone)
            co_return;
        for (const auto& name : rest.names)
            co_await erase_tree(c, path + '/' + name);
    }
    co_await c.erase(path, any_version, tuple);
}

}  // namespace corozk::bench
