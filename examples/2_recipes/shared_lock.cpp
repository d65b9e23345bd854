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

// Nodes below the lock's path belong to the lock, so the table is stored elsewhere.
const char* const folder = "/corozk-example/locks/table";
const char* const table = "/corozk-example-table";

awaitable<void> read_table(corozk::client& zk, int worker) {
    corozk::shared_lock lock(zk, folder, corozk::shared_lock_options("reader"));
    auto body = [&](corozk::ownership& held) -> awaitable<void> {
        // Reading through the ownership sees what the last writer wrote, on any server.
        corozk::node_data content = co_await held.read(table);
        std::cout << "reader " << worker << " sees \"" << content.data << "\"\n";
    };
    co_await lock.run_read(body);
}

awaitable<void> rewrite_table(corozk::client& zk, std::string content) {
    corozk::shared_lock lock(zk, folder, corozk::shared_lock_options("writer"));
    auto held = co_await lock.acquire_write();
    // The server rejects this write if the lock has been lost.
    corozk::transaction steps;
    steps.set(table, std::move(content));
    co_await held.commit(std::move(steps));
    // The reader keeps the writer's place: no other client can write before the next read.
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
