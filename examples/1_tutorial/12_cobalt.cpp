// SPDX-License-Identifier: Apache-2.0
// In coroutines of Boost.Cobalt: its token, `cobalt::use_op`, fits every operation.
//
//   12_cobalt 127.0.0.1:2181
#include <corozk.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/cobalt.hpp>

#include <iostream>

namespace asio = boost::asio;
namespace cobalt = boost::cobalt;
using namespace std::chrono_literals;

cobalt::promise<bool> second_contender(corozk::lock& lock) {
    auto held = co_await lock.acquire(cobalt::use_op);
    const bool valid = held.valid();
    std::cout << "the second one has it: " << valid << '\n';
    co_await held.release(cobalt::use_op);
    co_return valid;
}

cobalt::main co_main(int argc, char** argv) {
    corozk::client_options options(argc > 1 ? argv[1] : "127.0.0.1:2181");
    corozk::client zk(co_await cobalt::this_coro::executor, options);
    co_await zk.connect(cobalt::use_op);
    corozk::lock lock(zk, "/example-cobalt/lock");

    auto held = co_await lock.acquire(cobalt::use_op);
    auto waiting = second_contender(lock);
    auto [ec, none] = co_await lock.try_acquire(asio::as_tuple(cobalt::use_op));
    std::cout << "a third one: " << ec.message() << '\n';
    const bool refused = ec == corozk::errc::would_block;

    // The operation that does not complete first is cancelled.
    asio::steady_timer timer(zk.get_executor(), 50ms);
    auto first =
        co_await cobalt::race(lock.acquire(cobalt::use_op), timer.async_wait(cobalt::use_op));
    const bool gave_up = first.index() == 1;
    if (gave_up)
        std::cout << "gave up\n";

    co_await held.release(cobalt::use_op);
    const bool second_had_it = co_await waiting;
    co_await zk.close(cobalt::use_op);
    const bool as_expected = refused && gave_up && second_had_it;
    co_return as_expected ? 0 : 1;
}
