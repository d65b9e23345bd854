// SPDX-License-Identifier: Apache-2.0
// Reading with a watch, transactions with a result per step, and the state of the session.
//
//   4_read_and_watch 127.0.0.1:2181
#include <corozk.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <iostream>

namespace asio = boost::asio;
namespace zk = corozk;

asio::awaitable<void> work(std::string hosts) {
    auto client = co_await zk::client::connect(zk::client_options(hosts));
    std::cout << "session " << client.session_id() << ", " << zk::to_string(client.state()) << '\n';

    // Trivially destructible options may be temporaries in a co_await expression; see the README.
    auto node = co_await client.create(
        "/example-", "first", zk::create_options{.mode = zk::create_mode::ephemeral_sequential});
    auto [content, changed] = co_await client.watch_data(node.path);
    std::cout << content.data << " in version " << content.stat.version << '\n';

    // All or nothing, and only if the node has not been changed since.
    zk::transaction steps;
    steps.check(node.path, content.stat.version).set(node.path, "second");
    auto results = co_await client.commit(steps);
    std::cout << "now version " << results.back().stat.version << '\n';

    // Both at one point in time.
    zk::read_set reads;
    reads.get(node.path).children("/");
    auto state = co_await client.read_all(reads);
    std::cout << state[0].data << ", " << state[1].names.size() << " children of the root\n";

    auto event = co_await changed.next();
    std::cout << event.path << ": " << zk::to_string(event.type)
              << ", so read again: " << (co_await client.get(event.path)).data << '\n';
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
