// SPDX-License-Identifier: Apache-2.0
// Lists the holders and waiters of a lock, regardless of the recipe, and breaks the lock.
//
//   contention_inspector 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/contention_inspector.hpp>
#include <corozk/recipe/shared_lock.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <iostream>

using boost::asio::awaitable;
using namespace boost::asio::experimental::awaitable_operators;

awaitable<void> wait_for_lock(corozk::client& zk, std::string path) {
    corozk::shared_lock lock(zk, path, corozk::shared_lock_options("a writer"));
    auto held = co_await lock.acquire_write();
    co_await held.release();
}

awaitable<void> look(corozk::client& zk, std::string path) {
    corozk::contention_inspector line(zk, path);
    std::vector<corozk::contender_info> all = co_await line.list_contenders();
    while (all.size() < 2)
        all = co_await line.list_contenders();
    for (const corozk::contender_info& one : all)
        std::cout << (one.holds ? "holds: " : "waits: ") << one.data << '\n';
    co_await line.break_contender(all.front().path);
}

awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    std::string path = "/app/locks/table";
    corozk::shared_lock lock(zk, path, corozk::shared_lock_options("a reader"));
    auto held = co_await lock.acquire_read();
    co_await (wait_for_lock(zk, path) && look(zk, path));
    co_await held.wait_lost();
    std::cout << "the reader has lost its lock\n";
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
