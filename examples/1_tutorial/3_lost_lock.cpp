// SPDX-License-Identifier: Apache-2.0
// A lock can be lost: the session expires, or an operator breaks it. `run` then cancels the work.
//
//   3_lost_lock 127.0.0.1:2181
#include <corozk.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// Works until it is cancelled.
asio::awaitable<void> long_work(corozk::ownership& held) {
    std::cout << "working under " << held.path() << '\n';
    asio::steady_timer timer(co_await asio::this_coro::executor, 1h);
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    corozk::lock lock(zk, "/app/locks/lost");
    bool lost = false;
    try {
        co_await lock.run([&zk](corozk::ownership& held) -> asio::awaitable<void> {
            // What an operator would do with a lock that is stuck.
            zk.erase(held.path(), [](corozk::error_code) {});
            co_await long_work(held);
        });
    } catch (const corozk::error& e) {
        lost = e.code() == corozk::errc::ownership_lost;
        std::cout << e.what() << '\n';
    }
    co_await zk.close();
    if (!lost)
        throw std::runtime_error("the lock was not lost");
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
