// SPDX-License-Identifier: Apache-2.0
// A queue whose items are taken by priority, with a capacity of ten.
//
//   priority_queue 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/queue.hpp>

#include <boost/asio/this_coro.hpp>

#include <iostream>

namespace asio = boost::asio;

asio::awaitable<void> run(std::string hosts) {
    auto executor = co_await asio::this_coro::executor;
    corozk::client_options client_options(hosts);
    corozk::client zk = co_await corozk::client::connect(executor, client_options);

    corozk::queue_options options;
    options.bound = 10;  // producers wait while it is full
    corozk::priority_queue tasks(zk, "/examples/tasks", options);
    co_await tasks.put("tidy up", 50);
    co_await tasks.put("answer letters", 20);
    co_await tasks.put("put out the fire", 1);

    for (int i = 0; i < 3; ++i) {
        corozk::queue_item item = co_await tasks.take();
        std::cout << item.priority << ": " << item.data << '\n';
        // A new item precedes earlier ones of a lower priority.
        if (i == 0)
            co_await tasks.put("find out how it began", 5);
    }
    corozk::queue_item last = co_await tasks.take();
    std::cout << last.priority << ": " << last.data << '\n';
}

int main(int argc, char** argv) {
    return run_program(argc, argv, run);
}
