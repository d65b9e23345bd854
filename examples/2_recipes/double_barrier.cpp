// SPDX-License-Identifier: Apache-2.0
// Three members start and end each step of a computation together.
//
//   double_barrier 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/double_barrier.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <iostream>

using boost::asio::awaitable;
using namespace boost::asio::experimental::awaitable_operators;

// The members may be in different processes; all use the same size.
awaitable<void> member(corozk::client& zk, char name, int steps) {
    corozk::double_barrier gate(zk, "/app/barriers/computation", 3);
    for (int i = 0; i < steps; ++i) {
        co_await gate.enter();  // waits until all three have entered
        std::cout << name << " computes in round " << gate.round() << '\n';
        co_await gate.leave();  // waits until all three have left or died
    }
}

awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));

    co_await (member(zk, 'a', 2) && member(zk, 'b', 2) && member(zk, 'c', 2));

    // A fourth member alone does not enter, and leaves no node behind.
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
