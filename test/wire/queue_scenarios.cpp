// SPDX-License-Identifier: Apache-2.0
// Who puts and takes.
#include "bounded_wait.hpp"
#include "scenarios.hpp"
#include <corozk/recipe/delay_queue.hpp>
#include <corozk/recipe/queue.hpp>

#include <chrono>

namespace corozk::wire {

namespace {

using boost::asio::awaitable;
using namespace std::chrono_literals;

awaitable<void> queues(client& c, std::string folder) {
    queue q(c, folder);
    auto deadline = std::chrono::steady_clock::now() + patience(2s);
    co_await q.put_until("a", deadline);
    co_await q.put_until("b", deadline);
    co_await q.count_items();
    co_await q.take_until(deadline);
    queue_claim claim = co_await q.consume_until(deadline);
    co_await claim.acknowledge();
}

awaitable<void> bounded_queues(client& c, std::string folder) {
    queue_options options;
    options.bound = 1;
    queue q(c, folder, options);
    auto deadline = std::chrono::steady_clock::now() + patience(2s);
    co_await q.put_until("a", deadline);
    co_await q.try_put("b", as_tuple());
    co_await q.take_until(deadline);
    co_await q.put_until("c", deadline);
    co_await q.take_until(deadline);
}

awaitable<void> priority_queues(client& c, std::string folder) {
    priority_queue q(c, folder);
    auto deadline = std::chrono::steady_clock::now() + patience(2s);
    co_await q.put_until("b", 5, deadline);
    co_await q.put_until("a", 1, deadline);
    co_await q.peek();
    co_await q.take_until(deadline);
    queue_claim claim = co_await q.consume_until(deadline);
    co_await claim.acknowledge();
}

awaitable<void> delay_queues(client& c, std::string folder) {
    delay_queue q(c, folder);
    auto deadline = std::chrono::steady_clock::now() + patience(2s);
    co_await q.put_until("b", 20ms, deadline);
    co_await q.put_until("a", 10ms, deadline);
    co_await q.take_until(deadline);
    queue_claim claim = co_await q.consume_until(deadline);
    co_await claim.acknowledge();
}

}  // namespace

const std::vector<scenario>& queue_scenarios() {
    static const std::vector<scenario> all = {
        {"queue", queues},
        {"bounded_queue", bounded_queues},
        {"priority_queue", priority_queues},
        {"delay_queue", delay_queues},
    };
    return all;
}

}  // namespace corozk::wire
