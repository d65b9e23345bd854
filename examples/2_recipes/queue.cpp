// SPDX-License-Identifier: Apache-2.0
// A queue of jobs that are removed only when they are done: if a consumer dies, another one gets
// its job.
//
//   queue 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/queue.hpp>

#include <boost/asio/this_coro.hpp>

#include <iostream>

namespace asio = boost::asio;

/// Works until the queue is empty.
asio::awaitable<void> work(corozk::queue& jobs) {
    for (;;) {
        auto claim = co_await jobs.consume_for(std::chrono::milliseconds(200));
        std::cout << "working on " << claim.data() << '\n';
        // Removes the job and stores its result atomically. Fails if the session has ended: another
        // consumer has the job then.
        corozk::create_options sequential;
        sequential.mode = corozk::create_mode::persistent_sequential;
        corozk::transaction result;
        result.create("/examples/results/done-", claim.data(), sequential);
        co_await claim.acknowledge(result);
    }
}

asio::awaitable<void> run(std::string hosts) {
    auto executor = co_await asio::this_coro::executor;
    corozk::client_options options(hosts);
    corozk::client zk = co_await corozk::client::connect(executor, options);
    co_await zk.ensure_path("/examples/results");

    corozk::queue jobs(zk, "/examples/jobs");
    for (int i = 0; i < 5; ++i)
        co_await jobs.put("job " + std::to_string(i));
    try {
        co_await work(jobs);
    } catch (const corozk::error& e) {
        if (e.code() != corozk::errc::deadline_exceeded)
            throw;
    }
    std::size_t left = co_await jobs.count_items();
    std::cout << left << " jobs left\n";

    // Items that may be lost with their consumer can simply be taken.
    co_await jobs.put("a message");
    corozk::queue_item item = co_await jobs.take();
    std::cout << "took " << item.data << '\n';
}

int main(int argc, char** argv) {
    return run_program(argc, argv, run);
}
