// SPDX-License-Identifier: Apache-2.0
// A leader with a warm standby: both follow the state, so that the standby need not load it when it
// takes over. Clients see where the leader is.
//
//   standby 127.0.0.1:2181
#include "../2_recipes/program.hpp"
#include <corozk.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <iostream>
#include <stdexcept>

using boost::asio::awaitable;

awaitable<void> server(std::string hosts, std::string address) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    corozk::tree_cache rates(zk, "/rates");
    co_await rates.next();

    corozk::leader_latch latch(zk, "/rates-leader", corozk::election_options(address));
    latch.start();
    co_await latch.wait_leadership();  // standby until then: `rates` follows each change

    // What the predecessor wrote last may not be in the cache yet.
    auto euro = co_await latch.read("/rates/euro");
    co_await latch.acknowledge();
    std::cout << address << " leads, with " << rates.current().nodes->size() << " nodes, euro "
              << euro.data << '\n';
    corozk::transaction change;
    change.set("/rates/euro", euro.data + "+", euro.stat.version);
    co_await latch.commit(change);

    co_await latch.close();
    co_await zk.close();
}

/// Clients follow the leader, and wait for one that is ready.
awaitable<void> client(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    corozk::election election(zk, "/rates-leader");
    auto leader = co_await election.get_leader();
    for (;;) {
        if (leader && leader.acknowledged)
            std::cout << "  requests go to " << leader.identity << '\n';
        leader = co_await election.next_leader(leader);
    }
}

awaitable<void> work(std::string hosts) {
    using namespace boost::asio::experimental::awaitable_operators;
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    co_await erase_leftovers(zk, "/rates");
    co_await zk.ensure_path("/rates/euro");
    auto both = server(hosts, "10.0.0.1:80") && server(hosts, "10.0.0.2:80");
    co_await (std::move(both) || client(hosts));
    auto euro = co_await zk.get("/rates/euro");
    if (euro.data != "++")
        throw std::runtime_error("the second leader did not see what the first one wrote");
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
