// SPDX-License-Identifier: Apache-2.0
#include "engine/meter.hpp"
#include <corozk/recipe/queue.hpp>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <deque>
#include <string>
#include <vector>

namespace corozk::testing::queues_test {

using boost::asio::awaitable;

TEST_CASE("costs: queue") {
    costs_of("queue", 2, [](meter& m) {
        queue mine(m[0], m.path() + "/a"), theirs(m[1], m.path() + "/a");
        auto put = [&]() -> awaitable<void> { co_await mine.put("item"); };
        auto take = [&]() -> awaitable<void> { co_await theirs.take(); };
        auto put_ten = [&]() -> awaitable<void> {
            co_await mine.put_many(std::vector<std::string>(10, "item"));
        };
        auto one_by_one = [](auto& what) {
            return [&what]() -> awaitable<void> {
                for (int i = 0; i < 10; ++i)
                    co_await what();
            };
        };
        m.count("the first put", put);
        m.count("put", put);
        m.count("the first take", take);
        m.run(take);
        m.count("10 puts, one by one", one_by_one(put));
        m.count("10 takes, one by one", one_by_one(take));
        m.count_steps("10 puts at the same time", [&] { m.begin_many(10, put); });
        m.count_steps("10 takes at the same time", [&] { m.begin_many(10, take); });
        m.count("put_many of 10", put_ten);
        m.run(one_by_one(take));
        m.count_steps("a take waits", [&] { m.begin(take); });
        m.count("put, and the take that waits", put);
    });
}

TEST_CASE("costs: queue_consumers") {
    constexpr std::size_t most = 5;
    costs_of("queue_consumers", most + 1, [&](meter& m) {
        for (std::size_t consumers : {std::size_t(1), most}) {
            std::string path = fmt::format("{}/{}", m.path(), consumers);
            std::string item = "item";
            std::deque<queue> queues;
            for (std::size_t i = 0; i <= consumers; ++i)
                queues.emplace_back(m[i], path);
            auto put = [&]() -> awaitable<void> { co_await queues[0].put(item); };
            auto put_ten = [&]() -> awaitable<void> {
                co_await queues[0].put_many(std::vector<std::string>(10, item));
            };
            std::size_t begun = 0;
            auto take_all = [&]() -> awaitable<void> {
                queue& mine = queues[++begun];
                for (queue_item got; got.data != "last";)
                    got = co_await mine.take();
            };
            std::string who = fmt::format("{} at an empty queue: ", consumers);
            m.count_steps(who + "waiting", [&] { m.begin_many(consumers, take_all); });
            m.count(who + "the first item", put);
            m.count(who + "an item", put);
            m.count(who + "10 items", put_ten);
            item = "last";
            for (std::size_t i = 0; i < consumers; ++i)
                m.run(put);
        }
    });
}

TEST_CASE("costs: queue_claim") {
    costs_of("queue_claim", 2, [](meter& m) {
        queue mine(m[0], m.path() + "/a"), theirs(m[1], m.path() + "/a");
        auto put_ten = [&]() -> awaitable<void> {
            co_await mine.put_many(std::vector<std::string>(10, "item"));
        };
        queue_claim claim;
        auto consume = [&]() -> awaitable<void> { claim = co_await theirs.consume(); };
        auto acknowledge = [&]() -> awaitable<void> { co_await claim.acknowledge(); };
        auto work = [&]() -> awaitable<void> {
            queue_claim one = co_await theirs.consume();
            co_await one.acknowledge();
        };
        m.run(put_ten);
        m.count("the first consume", consume);
        m.count("the first acknowledge", acknowledge);
        m.count("consume", consume);
        m.count("acknowledge", acknowledge);
        m.count("consume and acknowledge at once", work);
        m.count("release", [&]() -> awaitable<void> {
            queue_claim one = co_await theirs.consume();
            co_await one.release();
        });
        m.run([&]() -> awaitable<void> {
            for (int i = 0; i < 7; ++i)
                co_await work();
        });
        m.run(put_ten);
        m.count("10 consumed and acknowledged, one by one", [&]() -> awaitable<void> {
            for (int i = 0; i < 10; ++i)
                co_await work();
        });
        m.run(put_ten);
        m.count_steps("10 consumed and acknowledged at the same time",
                      [&] { m.begin_many(10, work); });
    });
}

TEST_CASE("costs: priority_queue") {
    costs_of("priority_queue", 2, [](meter& m) {
        priority_queue mine(m[0], m.path() + "/a"), theirs(m[1], m.path() + "/a");
        auto put = [&]() -> awaitable<void> { co_await mine.put("item", 5); };
        auto take = [&]() -> awaitable<void> { co_await theirs.take(); };
        m.run(put);
        m.run(take);
        m.count_steps("10 puts at the same time", [&] { m.begin_many(10, put); });
        m.count("take", take);
        m.count_steps("9 takes at the same time", [&] { m.begin_many(9, take); });
    });
}

}  // namespace corozk::testing::queues_test
