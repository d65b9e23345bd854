// SPDX-License-Identifier: Apache-2.0
// Time limits of operations that are prepared first and started later.
#include "recipe_fixture.hpp"
#include <corozk.hpp>

#include <boost/asio/steady_timer.hpp>

#include <catch2/catch.hpp>

#include <tuple>
#include <utility>
#include <vector>

namespace corozk::testing::time_limit_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

/// The error of an operation, which starts when this is awaited.
template <class Operation>
awaitable<error_code> error_of(Operation operation) {
    auto result = co_await std::move(operation);
    co_return std::get<0>(result);
}

awaitable<error_code> error_of(awaitable<void> operation) {
    try {
        co_await std::move(operation);
    } catch (const boost::system::system_error& e) {
        co_return e.code();
    }
    co_return error_code();
}

}  // namespace

TEST_CASE("time limits count from the start of the operation") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        constexpr auto limit = 2s;
        lock exclusive(zk, path + "/lock");
        shared_lock shared(zk, path + "/shared");
        shared_lock upgraded(zk, path + "/upgraded");
        semaphore permits(zk, path + "/permits", 2);
        priority_lock urgent(zk, path + "/urgent");
        election term(zk, path + "/term");
        leader_latch latch(zk, path + "/latch");
        latch.start();
        lock part(zk, path + "/part");
        multi_lock several(zk);
        several.add(part);
        queue items(zk, path + "/items");
        priority_queue ranked(zk, path + "/ranked");
        barrier gate(zk, path + "/gate");
        double_barrier round(zk, path + "/round", 1);
        counter numbers(zk, path + "/numbers");
        configuration value(zk, path + "/value");
        optimistic_transaction transactions(zk, path + "/transactions");
        auto nothing = [](transaction_attempt&) -> awaitable<void> { co_return; };
        ownership reader = co_await upgraded.acquire_read();

        std::vector<awaitable<error_code>> prepared;
        auto prepare = [&](auto operation) { prepared.push_back(error_of(std::move(operation))); };
        prepare(exclusive.acquire_for(limit, as_tuple()));
        prepare(shared.acquire_read_for(limit, as_tuple()));
        prepare(shared.acquire_write_for(limit, as_tuple()));
        prepare(upgraded.upgrade_for(reader, limit, as_tuple()));
        prepare(permits.acquire_for(limit, as_tuple()));
        prepare(permits.acquire_for(2, limit, as_tuple()));
        prepare(urgent.acquire_for(1, limit, as_tuple()));
        prepare(urgent.acquire_read_for(1, limit, as_tuple()));
        prepare(term.campaign_for(limit, as_tuple()));
        prepare(latch.wait_leadership_for(limit, as_tuple()));
        prepare(several.acquire_for(limit, as_tuple()));
        prepare(items.put_for("x", limit, as_tuple()));
        prepare(items.take_for(limit, as_tuple()));
        prepare(ranked.put_for("x", 1, limit, as_tuple()));
        prepare(ranked.consume_for(limit, as_tuple()));
        prepare(gate.wait_for(limit, as_tuple()));
        prepare(round.enter_for(limit, as_tuple()));
        prepare(numbers.get_for(limit, as_tuple()));
        prepare(numbers.add_for(1, limit, as_tuple()));
        prepare(value.publish_for("x", limit, as_tuple()));
        prepare(transactions.run_for(limit, nothing));

        // The limits of all pass, if they count from here.
        boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, limit);
        co_await timer.async_wait(boost::asio::use_awaitable);
        for (std::size_t i = 0; i < prepared.size(); ++i) {
            INFO(i);
            const auto start = std::chrono::steady_clock::now();
            error_code ec = co_await std::move(prepared[i]);
            // On a slow machine it may take that long.
            const bool late =
                ec == errc::deadline_exceeded && std::chrono::steady_clock::now() - start >= limit;
            CHECK((!ec || late));
        }
    });
}

}  // namespace corozk::testing::time_limit_test
