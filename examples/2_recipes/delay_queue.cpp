// SPDX-License-Identifier: Apache-2.0
// Reminders: each becomes available when it is due, regardless of the order of the puts. One that
// could not be delivered is postponed.
//
//   delay_queue 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/delay_queue.hpp>

#include <boost/asio/this_coro.hpp>

#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> run(std::string hosts) {
    auto executor = co_await asio::this_coro::executor;
    corozk::client_options options(hosts);
    corozk::client zk = co_await corozk::client::connect(executor, options);

    corozk::delay_queue reminders(zk, "/examples/reminders");
    auto start = std::chrono::system_clock::now();
    co_await reminders.put("turn the cake", start + 200ms);
    co_await reminders.put("preheat the oven", 50ms);  // from now
    co_await reminders.put("mix the dough", 0s);

    corozk::queue_item first = co_await reminders.try_take();
    std::cout << first.data << ", at once\n";

    bool put_off = false;
    for (int done = 0; done < 2;) {
        // Waits until the first one is due. If a consumer dies, another one gets its item.
        corozk::queue_claim claim = co_await reminders.consume();
        auto late = std::chrono::system_clock::now() - claim.due();
        std::cout << claim.data() << ", " << late / 1ms << " ms late\n";
        if (!put_off) {
            // Nobody was in the kitchen. In this order the reminder may come twice if the process
            // dies in between; in the other order it might be lost.
            put_off = true;
            std::cout << "  ... in a moment\n";
            co_await reminders.put(claim.data(), 100ms);
            co_await claim.acknowledge();
            continue;
        }
        co_await claim.acknowledge();
        ++done;
    }
}

int main(int argc, char** argv) {
    return run_program(argc, argv, run);
}
