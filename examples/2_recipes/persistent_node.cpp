// SPDX-License-Identifier: Apache-2.0
// A process keeps a node that says where it is: whatever happens to its sessions, the node is there
// as long as the process.
//
//   persistent_node 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/cache.hpp>
#include <corozk/recipe/persistent_node.hpp>

#include <iostream>

using boost::asio::awaitable;

awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    corozk::persistent_node here(zk, "/corozk-example/services/billing");
    co_await here.keep("host-1:5000");

    auto other = co_await corozk::client::connect(corozk::client_options(hosts));
    corozk::node_cache seen(other, here.path());
    auto now = co_await seen.next();
    std::cout << "billing is at " << now.data << '\n';

    co_await here.set_data("host-1:5001");
    while (now.data != "host-1:5001")
        now = co_await seen.next(now);
    std::cout << "billing is at " << now.data << '\n';

    // If another client deletes it, it is created again.
    auto before = now.stat.czxid;
    co_await other.erase(here.path());
    while (!now.exists || now.stat.czxid == before)
        now = co_await seen.next(now);
    std::cout << "billing is still at " << now.data << '\n';

    co_await here.erase();
    co_await other.close();
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
