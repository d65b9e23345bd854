// SPDX-License-Identifier: Apache-2.0
// A local copy of a subtree that follows the server's state.
//
//   cache 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/cache.hpp>

#include <boost/asio/this_coro.hpp>

#include <iostream>

namespace asio = boost::asio;

asio::awaitable<void> run(std::string hosts) {
    auto executor = co_await asio::this_coro::executor;
    corozk::client_options options(hosts);
    corozk::client zk = co_await corozk::client::connect(executor, options);
    co_await zk.ensure_path("/examples/cache");

    corozk::tree_cache cache(zk, "/examples/cache");
    corozk::tree_state state = co_await cache.next();
    std::cout << "nodes at first: " << state.nodes->size() << '\n';

    // Usually another process does this.
    co_await zk.create("/examples/cache/color", "red");
    co_await zk.set("/examples/cache/color", "blue");

    // Intermediate states may be skipped, the latest never is.
    for (;;) {
        auto node = state.nodes->find("/examples/cache/color");
        if (node != state.nodes->end() && node->second.data == "blue")
            break;
        state = co_await cache.next(state);
    }
    std::cout << "color: " << state.nodes->at("/examples/cache/color").data << '\n';

    co_await zk.erase("/examples/cache/color");
    while (state.nodes->contains("/examples/cache/color")) {
        state = co_await cache.next(state);
    }
    std::cout << "gone\n";
}

int main(int argc, char** argv) {
    return run_program(argc, argv, run);
}
