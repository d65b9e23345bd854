// SPDX-License-Identifier: Apache-2.0
// A machine that is shared by priority: a long job gives way to an urgent one.
//
//   priority_lock 127.0.0.1:2181
#include "program.hpp"
#include <corozk.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <iostream>

using boost::asio::awaitable;
using namespace boost::asio::experimental::awaitable_operators;

const char* const folder = "/corozk-example/locks/machine";

// Works until a contender with a better priority requests the machine.
awaitable<void> long_job(corozk::client& zk) {
    corozk::priority_lock machine(zk, folder, corozk::priority_lock_options("long job"));
    corozk::ownership held = co_await machine.acquire(10);
    std::cout << "the long job starts\n";
    co_await held.wait_release_requested();
    std::cout << "the long job gives way\n";
    co_await held.release();
    held = co_await machine.acquire(10);
    std::cout << "the long job continues\n";
    co_await held.release();
}

awaitable<void> urgent_job(corozk::client& zk) {
    // Starts once the long job is running.
    corozk::priority_lock_options options("urgent job");
    options.ask_holder_to_release = true;
    corozk::priority_lock machine(zk, folder, options);
    for (bool busy = false; !busy;) {
        auto line = co_await machine.list_contenders();
        busy = !line.empty() && line.front().holds;
    }
    auto body = [](corozk::ownership&) -> awaitable<void> {
        std::cout << "the urgent job is done\n";
        co_return;
    };
    co_await machine.run(1, body);
}

awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    co_await (long_job(zk) && urgent_job(zk));
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
