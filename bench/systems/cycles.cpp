// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"
#include "systems/measure.hpp"

#include <boost/asio/this_coro.hpp>

namespace corozk::bench {

namespace {

constexpr std::size_t warm_up_cycles = 20;

}  // namespace

boost::asio::awaitable<void> measure_cycles(job& j,
                                            const lock_wish& wish,
                                            std::size_t cycles,
                                            result& r) {
    auto executor = co_await boost::asio::this_coro::executor;
    auto client = make_lock_client(executor, wish);
    co_await client->connect();
    latencies writes;
    latencies held;
    for (std::size_t i = 0; i < warm_up_cycles + cycles; ++i) {
        j.on.shown().update(wish.system + ": uncontended", i, warm_up_cycles + cycles);
        auto began = clock::now();
        co_await client->write();
        auto written = clock::now();
        co_await client->acquire();
        co_await client->release();
        auto released = clock::now();
        if (i < warm_up_cycles)
            continue;
        writes.add(to_microseconds(written - began));
        held.add(to_microseconds(released - written));
    }
    client->close();
    r.add("write_us.p50", writes.p50());
    r.add("write_us.p99", writes.p99());
    r.add("cycle_us.p50", held.p50());
    r.add("cycle_us.p99", held.p99());
    r.add(held);
}

}  // namespace corozk::bench
