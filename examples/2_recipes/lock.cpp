// SPDX-License-Identifier: Apache-2.0
// The exclusive lock: with a deadline, without waiting, around a coroutine, and with writes that
// the server rejects once the lock is lost.
//
//   lock 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/lock.hpp>

#include <boost/asio/as_tuple.hpp>

#include <iostream>

using boost::asio::awaitable;

awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    corozk::lock lock(zk, "/app/locks/report", corozk::lock_options("the nightly report"));
    auto held = co_await lock.acquire_for(std::chrono::seconds(5));

    // Another contender, which does not wait.
    corozk::lock other(zk, "/app/locks/report");
    auto [ec, nothing] =
        co_await other.try_acquire(boost::asio::as_tuple(boost::asio::use_awaitable));
    std::cout << "the other client: " << ec.message() << '\n';

    // Applied only while the lock is held, as judged by the server.
    corozk::transaction result;
    result.create("/app/report", "done");
    co_await held.commit(result);
    co_await held.release();

    // The body is cancelled when the lock is lost; the lock is always released.
    auto body = [&zk](corozk::ownership& own) -> awaitable<void> {
        corozk::node_data report = co_await own.read("/app/report");
        std::cout << "the report is " << report.data << '\n';
        co_await zk.erase("/app/report");
    };
    co_await other.run(body);
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
