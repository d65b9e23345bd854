// SPDX-License-Identifier: Apache-2.0
// Two workers acquire the same two locks in different orders, and wait for each other forever. A
// third one finds the deadlock and breaks it. (A multi_lock would have avoided it.)
//
//   deadlocks 127.0.0.1:2181
#include "program.hpp"
#include <corozk.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>

#include <iostream>

using boost::asio::awaitable;
using namespace boost::asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

const std::string left = "/corozk-example/left";
const std::string right = "/corozk-example/right";

awaitable<void> short_pause() {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, 50ms);
    co_await timer.async_wait(boost::asio::use_awaitable);
}

awaitable<void> take_both(corozk::client& zk,
                          std::string name,
                          std::string one,
                          std::string other) {
    corozk::lock first(zk, one, corozk::lock_options(name));
    corozk::lock second(zk, other, corozk::lock_options(name));
    corozk::ownership held = co_await first.acquire();
    co_await short_pause();
    auto [ec, also] = co_await second.acquire(boost::asio::as_tuple(boost::asio::use_awaitable));
    std::cout << name << (ec ? " did not get " : " got ") << other << '\n';
    // Both are released when this function returns.
}

awaitable<void> look_after(corozk::client& zk) {
    std::vector<std::string> paths{left, right};
    corozk::wait_graph graph;
    while (graph.deadlocks.empty()) {
        co_await short_pause();
        graph = co_await corozk::find_deadlocks(zk, paths);
    }
    for (const corozk::wait_edge& edge : graph.deadlocks.front()) {
        std::cout << edge.waiter.data << " waits for " << edge.blocker.data << " at " << edge.path
                  << '\n';
    }
    const corozk::wait_edge& victim = graph.deadlocks.front().front();
    corozk::lock broken(zk, victim.path);
    co_await broken.break_contender(victim.waiter.path);
}

awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    co_await (take_both(zk, "anna", left, right) && take_both(zk, "bert", right, left) &&
              look_after(zk));
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
