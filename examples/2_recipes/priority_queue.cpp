// SPDX-License-Identifier: Apache-2.0
// A queue whose items come out by priority, with room for ten.
//
//   priority_queue HOST:PORT
#include <corozk/recipe/queue.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>
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
        // A newcomer is not overtaken by what was there before.
        if (i == 0)
            co_await tasks.put("find out how it began", 5);
    }
    corozk::queue_item last = co_await tasks.take();
    std::cout << last.priority << ": " << last.data << '\n';
}

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: " << argv[0] << " HOST:PORT\n";
        return 2;
    }
    asio::io_context context;
    int status = 0;
    asio::co_spawn(context, run(argv[1]), [&status](std::exception_ptr failure) {
        if (!failure)
            return;
        status = 1;
        try {
            std::rethrow_exception(failure);
        } catch (const std::exception& e) {
            std::cerr << e.what() << '\n';
        }
    });
    context.run();
    return status;
}
