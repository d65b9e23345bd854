// SPDX-License-Identifier: Apache-2.0
// A time limit for waiting, and what happens if the lock is held for longer.
//
//   2_deadline 127.0.0.1:2181
#include <corozk.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    corozk::lock lock(zk, "/app/locks/deadline");
    auto held = co_await lock.acquire();

    // A second contender of the same process: a lock is not re-entrant.
    auto [ec, second] = co_await lock.acquire_for(200ms, asio::as_tuple(asio::use_awaitable));
    if (ec == corozk::errc::deadline_exceeded)
        std::cout << "gave up: " << ec.message() << '\n';

    // Who holds the lock?
    for (const auto& contender : co_await lock.list_contenders()) {
        std::cout << contender.path << (contender.holds ? " holds" : " waits") << '\n';
    }

    co_await held.release();
    auto third = co_await lock.try_acquire();  // now it is free
    std::cout << "third time lucky: " << third.path() << '\n';
    co_await third.release();
    co_await zk.close();
}

int main(int argc, char** argv) try {
    asio::io_context context;
    auto done =
        asio::co_spawn(context, work(argc > 1 ? argv[1] : "127.0.0.1:2181"), asio::use_future);
    context.run();
    done.get();  // throws the error, if any
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
