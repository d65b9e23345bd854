// SPDX-License-Identifier: Apache-2.0
// A worker finds its master, in any starting order, and follows it when it moves.
//
//   rendezvous 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/rendezvous.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <iostream>

using boost::asio::awaitable;
using namespace boost::asio::experimental::awaitable_operators;

awaitable<void> master(std::string hosts, std::string address) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    corozk::rendezvous point(zk, "/app/master");
    co_await point.publish(address);
    co_await zk.close();  // or it dies: the published node is deleted with the session
}

awaitable<void> worker(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    corozk::rendezvous point(zk, "/app/master");

    // The first call returns the current state, the next ones wait for a change.
    std::string last;
    while (last != "host-2:5000") {
        auto now = co_await point.next();
        std::cout << (now.present ? "the master is at " + now.data : "no master") << '\n';
        if (now.present)
            last = now.data;
    }
    co_await zk.close();
}

awaitable<void> work(std::string hosts) {
    // The restarted master. It does not replace one that is still alive.
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    corozk::rendezvous elsewhere(zk, "/app/master");
    auto restart = [&]() -> awaitable<void> {
        co_await master(hosts, "host-1:5000");
        co_await elsewhere.publish("host-2:5000");
    };

    co_await (worker(hosts) && restart());

    co_await elsewhere.withdraw();
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
