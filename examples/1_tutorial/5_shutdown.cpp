// SPDX-License-Identifier: Apache-2.0
// A service that ends cleanly on SIGINT or SIGTERM: the work is cancelled, the lock released, the
// session closed. With a second argument it sends itself the signal.
//
//   5_shutdown 127.0.0.1:2181 [now]
#include <corozk.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <csignal>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

asio::awaitable<void> serve(corozk::lock& lock, bool stop_at_once) {
    // A named variable: g++ 12.2 destroys capturing temporaries twice beside co_await.
    auto body = [stop_at_once](corozk::ownership& held) -> asio::awaitable<void> {
        std::cout << "serving under " << held.path() << '\n';
        if (stop_at_once)
            std::raise(SIGTERM);
        asio::steady_timer timer(co_await asio::this_coro::executor, 1h);
        co_await timer.async_wait(asio::use_awaitable);
    };
    co_await lock.run(body);
}

asio::awaitable<void> work(std::string hosts, bool stop_at_once) {
    auto executor = co_await asio::this_coro::executor;
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    corozk::lock lock(zk, "/app/locks/service");
    asio::signal_set signals(executor, SIGINT, SIGTERM);
    co_await (serve(lock, stop_at_once) || signals.async_wait(asio::use_awaitable));
    std::cout << "closing\n";
    co_await zk.close();  // deletes the ephemeral nodes of the session
}

int main(int argc, char** argv) try {
    asio::io_context context;
    auto done = asio::co_spawn(
        context, work(argc > 1 ? argv[1] : "127.0.0.1:2181", argc > 2), asio::use_future);
    context.run();
    done.get();
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
