// SPDX-License-Identifier: Apache-2.0
// A context that several threads run. A client, with its recipes and watches, is used on one
// strand; the work under its locks is done by the pool.
//
//   7_threads 127.0.0.1:2181
#include <corozk.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <future>
#include <iostream>
#include <vector>

namespace asio = boost::asio;

std::atomic<int> at_work{0};
std::atomic<int> finished{0};

// Runs on any thread of the pool: only data protected by the lock is safe here.
asio::awaitable<void> heavy_work() {
    // Leaves the strand: co_spawn begins on the thread that it is called on if that is the pool's.
    co_await asio::post(asio::use_awaitable);
    if (++at_work != 1)
        std::cout << "two at once!\n";
    --at_work;
    ++finished;
    co_return;
}

// Runs on the client's strand: a coroutine resumes where it was spawned.
asio::awaitable<void> worker(corozk::client& zk, asio::thread_pool& pool) {
    corozk::lock lock(zk, "/app/locks/threads");
    auto body = [&pool](corozk::ownership&) -> asio::awaitable<void> {
        // On the pool, then back on the strand, which is free meanwhile.
        co_await asio::co_spawn(pool, heavy_work(), asio::use_awaitable);
    };
    co_await lock.run(body);
}

asio::awaitable<corozk::client> connect(std::string hosts) {
    corozk::client_options options(hosts);
    // By default on the coroutine's executor, which is the strand.
    auto zk = co_await corozk::client::connect(options);
    co_return zk;
}

int main(int argc, char** argv) try {
    asio::thread_pool pool(4);
    auto strand = asio::make_strand(pool.get_executor());

    std::string hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    corozk::client zk = asio::co_spawn(strand, connect(hosts), asio::use_future).get();
    std::vector<std::future<void>> workers;
    for (int i = 0; i < 10; ++i)
        workers.push_back(asio::co_spawn(strand, worker(zk, pool), asio::use_future));
    for (auto& w : workers)
        w.get();

    auto close = [&]() -> asio::awaitable<void> { co_await zk.close(); };
    asio::co_spawn(strand, close, asio::use_future).get();
    pool.join();
    std::cout << finished << " pieces of work, one at a time\n";
    return finished == 10 ? 0 : 1;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
