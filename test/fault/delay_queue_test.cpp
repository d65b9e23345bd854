// SPDX-License-Identifier: Apache-2.0
#include "hand_clock.hpp"
#include "queue_run.hpp"
#include <corozk/recipe/delay_queue.hpp>

#include <memory>
#include <vector>

namespace corozk::testing::delay_queue_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

/// Puts in another order than the items are due, and takes as the time goes on: each comes once, in
/// order.
awaitable<void> put_and_take(fault_run& run) {
    hand_clock wall;
    {
        delay_queue q(run.zk, run.path + "/q", queue_options(), wall.reader());
        co_await q.put("2", 20ms);
        co_await q.put("0", 0ms);
        std::vector<std::string> two{"3", "4"};
        co_await q.put_many(two, 30ms);
        co_await q.put("1", 10ms);
        for (int i = 0; i < 3; ++i) {
            pending_result<queue_item> taken;
            q.take(taken.handler());
            wall.turn(i == 0 ? 0ms : 10ms);
            CHECK(!co_await finished(taken));
            CHECK(taken.value().data == std::to_string(i));
        }
        CHECK(items_at(run.path + "/q") == std::vector<std::string>{"3", "4"});
        wall.turn(10ms);
        queue_item item = co_await q.try_take();
        CHECK(item.data == "3");
        item = co_await q.peek();
        CHECK(item.data == "4");
    }
    co_await only_items_left(run.path);
}

/// One waits for the first to become due, another puts one that is due earlier.
awaitable<void> wait_and_overtake(fault_run& run) {
    hand_clock wall;
    client other = co_await one_more_client();
    {
        delay_queue q(run.zk, run.path + "/q", queue_options(), wall.reader());
        delay_queue producer(other, run.path + "/q", queue_options(), wall.reader());
        co_await producer.put("late", 40ms);
        pending_result<queue_item> first, second;
        q.take(first.handler());
        co_await watches_at_server(1);
        co_await producer.put("early", 20ms);
        wall.turn(20ms);
        CHECK(!co_await finished(first));
        CHECK(first.value().data == "early");
        q.take(second.handler());
        wall.turn(20ms);
        CHECK(!co_await finished(second));
        CHECK(second.value().data == "late");
        CHECK(items_at(run.path + "/q").empty());
    }
    co_await only_items_left(run.path);
    co_await other.close();
}

}  // namespace

TEST_CASE("delay queue: a connection cut at any frame neither loses nor doubles an item") {
    cut_at_every_frame(put_and_take);
}

TEST_CASE("delay queue: an expired session neither loses nor doubles an item") {
    expire_at_every_frame(put_and_take);
}

TEST_CASE("delay queue: a connection cut at any frame while somebody waits") {
    cut_at_every_frame(wait_and_overtake);
}

TEST_CASE("delay queue: an expired session while somebody waits") {
    expire_at_every_frame(wait_and_overtake);
}

TEST_CASE("delay queue: a take cancelled at any frame gives its item back to its place") {
    cancel_at_every_frame([](fault_run& run, auto slot) -> awaitable<void> {
        hand_clock wall;
        client other = co_await one_more_client();
        {
            delay_queue producer(other, run.path + "/q", queue_options(), wall.reader());
            for (int i = 3; i-- > 0;)
                co_await producer.put(std::to_string(i), std::chrono::milliseconds(10 * i));
            delay_queue q(run.zk, run.path + "/q", queue_options(), wall.reader());
            pending_result<queue_item> first;
            q.take(first.handler(slot));
            co_await finished(first);
            wall.turn(-1h);
            auto [ec, none] = co_await q.try_take(as_tuple());
            CHECK(ec == errc::would_block);
            wall.turn(2h);
            co_await all_come_in_order(first, q, 3);
        }
        co_await only_items_left(run.path);
        co_await other.close();
    });
}

TEST_CASE("delay queue: whoever waits for the time is cancelled at any frame") {
    cancel_at_every_frame([](fault_run& run, auto slot) -> awaitable<void> {
        hand_clock wall;
        client other = co_await one_more_client();
        {
            delay_queue producer(other, run.path + "/q", queue_options(), wall.reader());
            co_await producer.put("0", 20ms);
            delay_queue q(run.zk, run.path + "/q", queue_options(), wall.reader());
            pending_result<queue_item> taken;
            q.take(taken.handler(slot));
            co_await eventually_async(
                [&] { return taken.done() || watch_count(shared_server().port()) == 1; });
            wall.turn(20ms);
            co_await all_come_in_order(taken, producer, 1);
            // A take that was cancelled puts its item back in the background.
            co_await eventually_async([&] { return items_at(run.path + "/q").empty(); });
        }
        co_await only_items_left(run.path);
        co_await other.close();
    });
}

TEST_CASE("delay queue: a connection cut at any frame of consume and acknowledge") {
    cut_at_every_frame([](fault_run& run) -> awaitable<void> {
        hand_clock wall;
        {
            delay_queue q(run.zk, run.path + "/q", queue_options(), wall.reader());
            co_await q.put("1", 10ms);
            co_await q.put("0", 0ms);
            wall.turn(10ms);
            for (int i = 0; i < 2; ++i) {
                queue_claim claim = co_await q.consume();
                CHECK(claim.data() == std::to_string(i));
                transaction effect;
                effect.create(run.path + "/effect-" + claim.data());
                co_await claim.acknowledge(effect);
            }
            CHECK(items_at(run.path + "/q").empty());
            co_await q.put("2", 1s);
            wall.turn(1s);
            queue_claim claim = co_await q.consume();
            // What is claimed stays so, whatever the clock says.
            wall.turn(-1h);
            co_await claim.release();
            auto [ec, none] = co_await q.try_consume(as_tuple());
            CHECK(ec == errc::would_block);
            wall.turn(1h);
            claim = co_await q.try_consume();
            CHECK(claim.data() == "2");
        }
        co_await only_items_left(run.path);
        CHECK(items_at(run.path + "/q") == std::vector<std::string>{"2"});
    });
}

TEST_CASE("delay queue: an object destroyed at any frame of a take loses nothing") {
    cancel_at_every_frame([](fault_run& run, auto slot) -> awaitable<void> {
        hand_clock wall;
        client other = co_await one_more_client();
        {
            delay_queue producer(other, run.path + "/q", queue_options(), wall.reader());
            co_await producer.put("0", 10ms);
            auto q = std::make_unique<delay_queue>(
                run.zk, run.path + "/q", queue_options(), wall.reader());
            pending_result<queue_item> taken;
            slot.assign([&](boost::asio::cancellation_type) { q.reset(); });
            q->take(taken.handler());
            co_await eventually_async(
                [&] { return taken.done() || watch_count(shared_server().port()) == 1; });
            wall.turn(10ms);
            co_await finished(taken);
            slot.clear();
            co_await all_come_in_order(taken, producer, 1);
            q.reset();
        }
        co_await only_items_left(run.path);
        co_await other.close();
    });
}

}  // namespace corozk::testing::delay_queue_test
