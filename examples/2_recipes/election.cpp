// SPDX-License-Identifier: Apache-2.0
// Three candidates, each of which leads for a short term, and an observer.
//
//   election 127.0.0.1:2181
#include "program.hpp"
#include <corozk.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>

#include <iostream>

using boost::asio::awaitable;
using namespace boost::asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

const char* const folder = "/corozk-example/election";

awaitable<void> candidate(corozk::client& zk, std::string name) {
    corozk::election election(zk, folder, corozk::election_options(name));
    auto term = [&](corozk::ownership& leadership) -> awaitable<void> {
        // First the leader procedure: take over the predecessor's work. Then acknowledge.
        co_await election.acknowledge(leadership);
        std::cout << name << " leads\n";
        boost::asio::steady_timer work(co_await boost::asio::this_coro::executor, 30ms);
        co_await work.async_wait(boost::asio::use_awaitable);
    };
    // If the session were lost, the term would be cancelled and the candidate campaign again.
    co_await election.run(term);
}

awaitable<void> watch(corozk::client& zk) {
    corozk::election election(zk, folder);
    corozk::election_leader leader = co_await election.get_leader();
    for (;;) {
        std::string what = leader ? leader.identity : "nobody";
        std::cout << "  seen: " << what << (leader.acknowledged ? ", acknowledged\n" : "\n");
        leader = co_await election.next_leader(leader);
    }
}

awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    auto all = [&]() -> awaitable<void> {
        co_await (candidate(zk, "anna") && candidate(zk, "berta") && candidate(zk, "carla"));
    };
    // The observer is cancelled after all terms.
    co_await (all() || watch(zk));
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
