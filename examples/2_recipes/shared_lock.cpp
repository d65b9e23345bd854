// SPDX-License-Identifier: Apache-2.0
// Many readers or one writer: workers read a table, now and then one of them rewrites it.
//
//   shared_lock 127.0.0.1:2181
#include "program.hpp"
#include <corozk.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <iostream>

using boost::asio::awaitable;
using namespace boost::asio::experimental::awaitable_operators;

// What is below the lock's own folder belongs to the lock: the table is kept elsewhere.
const char* const folder = "/corozk-example/locks/table";
const char* const table = "/corozk-example-table";

awaitable<void> read_table(corozk::client& zk, int worker) {
    corozk::shared_lock lock(zk, folder, corozk::shared_lock_options("reader"));
    auto body = [&](corozk::ownership& held) -> awaitable<void> {
        // A read through the owning object sees what the last writer wrote, on any server.
        corozk::node_data content = co_await held.read(table);
        std::cout << "reader " << worker << " sees \"" << content.data << "\"\n";
    };
    co_await lock.run_read(body);
}

awaitable<void> rewrite_table(corozk::client& zk, std::string content) {
    corozk::shared_lock lock(zk, folder, corozk::shared_lock_options("writer"));
    auto held = co_await lock.acquire_write();
    // The server refuses this write if the lock was lost in the meantime.
    corozk::transaction steps;
    steps.set(table, std::move(content));
    co_await held.commit(std::move(steps));
    // As a reader the place in the line stays ours: nobody can write between this and the look.
    co_await lock.downgrade(held);
    corozk::node_data now = co_await held.read(table);
    std::cout << "the writer left \"" << now.data << "\"\n";
    co_await held.release();
}

awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    auto found = co_await zk.exists(table);
    if (!found)
        co_await zk.create(table, "empty");
    co_await (read_table(zk, 1) && read_table(zk, 2));
    co_await (rewrite_table(zk, "one row") && read_table(zk, 3) && read_table(zk, 4));
    co_await zk.erase(table);
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
