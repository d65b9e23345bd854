// SPDX-License-Identifier: Apache-2.0
// At most three transfers at a time, for any number of workers; a big one counts twice.
//
//   semaphore 127.0.0.1:2181
#include "program.hpp"
#include <corozk.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>

#include <iostream>

using boost::asio::awaitable;
using namespace boost::asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

awaitable<void> transfer(corozk::client& zk, std::string name, int permits) {
    // All participants must use the same limit; a different one is an error.
    corozk::semaphore slots(zk, "/corozk-example/transfers", 3, corozk::semaphore_options(name));
    auto body = [&](corozk::ownership& held) -> awaitable<void> {
        std::cout << name << " starts with " << permits << " permits, fencing token "
                  << held.fencing_token() << '\n';
        boost::asio::steady_timer work(co_await boost::asio::this_coro::executor, 20ms);
        co_await work.async_wait(boost::asio::use_awaitable);
        std::cout << name << " ends\n";
    };
    // All permits or none: clients that need several never wait for each other.
    co_await slots.run(permits, body);
}

awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    co_await (transfer(zk, "small 1", 1) && transfer(zk, "big 1", 2) &&
              transfer(zk, "small 2", 1) && transfer(zk, "big 2", 2) && transfer(zk, "small 3", 1));

    corozk::semaphore slots(zk, "/corozk-example/transfers", 3);
    std::cout << co_await slots.count_available() << " permits are free\n";
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
