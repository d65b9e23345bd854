// SPDX-License-Identifier: Apache-2.0
// Workers wait until the database has been migrated.
//
//   barrier 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/barrier.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <iostream>

using boost::asio::awaitable;
using namespace boost::asio::experimental::awaitable_operators;

// Any number of workers, in any process.
awaitable<void> worker(corozk::client& zk, int number) {
    corozk::barrier gate(zk, "/app/barriers/migration");
    co_await gate.wait();  // returns at once if there is no barrier
    std::cout << "worker " << number << " starts\n";
}

awaitable<void> migrate(corozk::client& zk) {
    corozk::barrier gate(zk, "/app/barriers/migration");
    std::cout << "migrating...\n";
    co_await zk.sync();  // the work would be done here
    bool removed = co_await gate.remove();
    if (removed)
        std::cout << "the gate is open\n";
}

awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));

    // Bound to the session: if this process dies, the workers do not wait forever.
    corozk::barrier_options options;
    options.mode = corozk::create_mode::ephemeral;
    corozk::barrier gate(zk, "/app/barriers/migration", options);
    co_await gate.set();

    co_await (worker(zk, 1) && worker(zk, 2) && migrate(zk));

    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
