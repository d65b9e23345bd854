// SPDX-License-Identifier: Apache-2.0
// Three members begin each step of a computation together, and end it together.
//
//   double_barrier 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/double_barrier.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <iostream>

using boost::asio::awaitable;
using namespace boost::asio::experimental::awaitable_operators;

// The members may be in different processes; all name the same size.
awaitable<void> member(corozk::client& zk, char name, int steps) {
    corozk::double_barrier gate(zk, "/app/barriers/computation", 3);
    for (int i = 0; i < steps; ++i) {
        co_await gate.enter();  // until all three are here
        std::cout << name << " computes in round " << gate.round() << '\n';
        co_await gate.leave();  // until all three have finished, or died
    }
}

awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));

    co_await (member(zk, 'a', 2) && member(zk, 'b', 2) && member(zk, 'c', 2));

    // A fourth one alone does not get in, and leaves nothing behind.
    corozk::double_barrier lonely(zk, "/app/barriers/computation", 3);
    try {
        co_await lonely.enter_for(std::chrono::milliseconds(100));
    } catch (const corozk::error& e) {
        std::cout << "alone: " << e.code().message() << '\n';
    }

    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
