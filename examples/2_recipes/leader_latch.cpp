// SPDX-License-Identifier: Apache-2.0
// Leadership as a state: one of two servers leads at any time; when it stops, the other one takes
// over. The latch automatically campaigns again after session loss.
//
//   leader_latch 127.0.0.1:2181
#include "program.hpp"
#include <corozk.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>

#include <iostream>

using boost::asio::awaitable;
using namespace boost::asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

awaitable<void> serve(corozk::client& zk, std::string name) {
    corozk::leader_latch latch(zk, "/corozk-example/latch", corozk::election_options(name));
    latch.start();
    std::int64_t term = co_await latch.wait_leadership();
    co_await latch.acknowledge();
    std::cout << name << " leads, fencing token " << term << '\n';

    boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor);
    for (int job = 0; job < 3 && latch.has_leadership(); ++job) {
        std::cout << name << " does job " << job << '\n';
        pause.expires_after(10ms);
        co_await pause.async_wait(boost::asio::use_awaitable);
    }
    co_await latch.close();
    std::cout << name << " has stopped\n";
}

awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    co_await (serve(zk, "north") && serve(zk, "south"));
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
