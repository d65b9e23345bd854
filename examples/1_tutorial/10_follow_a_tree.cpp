// SPDX-License-Identifier: Apache-2.0
// One watch for all changes of a znode and its descendants.
//
//   10_follow_a_tree 127.0.0.1:2181
#include <corozk.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <iostream>

namespace asio = boost::asio;
namespace zk = corozk;

asio::awaitable<void> work(std::string hosts) {
    auto client = co_await zk::client::connect(zk::client_options(hosts));
    auto changes = co_await client.add_watch("/example-tree", zk::watch_mode::persistent_recursive);

    co_await client.ensure_path("/example-tree/child");
    co_await client.set("/example-tree/child", "data");
    co_await client.erase_tree("/example-tree");

    for (bool erased = false; !erased;) {
        auto event = co_await changes.next();
        std::cout << zk::to_string(event.type) << ' ' << event.path << '\n';
        if (event.type == zk::watch_event_type::unknown)
            std::cout << "events may be missing: read everything again\n";
        erased = event.type == zk::watch_event_type::erased && event.path == changes.path();
    }
    co_await client.close();
}

int main(int argc, char** argv) try {
    asio::io_context context;
    auto done =
        asio::co_spawn(context, work(argc > 1 ? argv[1] : "127.0.0.1:2181"), asio::use_future);
    context.run();
    done.get();
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
