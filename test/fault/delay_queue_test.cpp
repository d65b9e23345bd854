// SPDX-License-Identifier: Apache-2.0
#include "hand_clock.hpp"
#include "recipe_fixture.hpp"
#include <corozk/recipe/delay_queue.hpp>

#include <boost/asio/post.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <vector>

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

admin observer() {
    return admin(shared_server().port());
}

std::vector<std::string> items_at(const std::string& path) {
    std::vector<std::string> items;
    admin hand = observer();
    for (const std::string& name : hand.children(path))
        items.push_back(hand.data(path + "/" + name));
    std::sort(items.begin(), items.end());
    return items;
}

/// No claim, no ledger and no watch of the run is left.
awaitable<void> nothing_left(std::string path) {
    co_await eventually_async([&] {
        for (const auto& [node, session] : ephemerals(shared_server().port())) {
            if (node.starts_with(path + "/"))
                return false;
        }
        return observer().children(path + "/q-control").empty() &&
               watch_count(shared_server().port()) == 0;
    });
}

awaitable<client> healthy_client() {
    client other = co_await client::connect(co_await boost::asio::this_coro::executor,
                                            options_for(shared_server().hosts()));
    co_return other;
}

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
            bool taken = false;
            std::string data;
            q.take([&](error_code ec, queue_item item) {
                CHECK_FALSE(ec);
                taken = true;
                data = item.data;
            });
            wall.turn(i == 0 ? 0ms : 10ms);
            co_await eventually_async([&] { return taken; });
            CHECK(data == std::to_string(i));
        }
        CHECK(items_at(run.path + "/q") == std::vector<std::string>{"3", "4"});
        wall.turn(10ms);
        queue_item item = co_await q.try_take();
        CHECK(item.data == "3");
        item = co_await q.peek();
        CHECK(item.data == "4");
    }
    co_await nothing_left(run.path);
}

/// One waits for the first to become due, another puts one that is due earlier.
awaitable<void> wait_and_overtake(fault_run& run) {
    hand_clock wall;
    client other = co_await healthy_client();
    {
        delay_queue q(run.zk, run.path + "/q", queue_options(), wall.reader());
        delay_queue producer(other, run.path + "/q", queue_options(), wall.reader());
        co_await producer.put("late", 40ms);
        std::vector<std::string> taken;
        auto take = [&] {
            q.take([&](error_code ec, queue_item item) {
                CHECK_FALSE(ec);
                taken.push_back(item.data);
            });
        };
        take();
        co_await eventually_async([&] { return watch_count(shared_server().port()) == 1; });
        co_await producer.put("early", 20ms);
        wall.turn(20ms);
        co_await eventually_async([&] { return taken.size() == 1; });
        take();
        wall.turn(20ms);
        co_await eventually_async([&] { return taken.size() == 2; });
        CHECK(taken == std::vector<std::string>{"early", "late"});
        CHECK(items_at(run.path + "/q").empty());
    }
    co_await nothing_left(run.path);
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
        client other = co_await healthy_client();
        {
            delay_queue producer(other, run.path + "/q", queue_options(), wall.reader());
            for (int i = 3; i-- > 0;)
                co_await producer.put(std::to_string(i), std::chrono::milliseconds(10 * i));
            delay_queue q(run.zk, run.path + "/q", queue_options(), wall.reader());
            // The clock goes back as soon as the first item is on its way to the taker.
            int completed = 0;
            error_code result;
            std::vector<std::string> taken;
            q.take(boost::asio::bind_cancellation_slot(slot, [&](error_code ec, queue_item item) {
                ++completed;
                result = ec;
                if (!ec)
                    taken.push_back(item.data);
                wall.turn(-1h);
            }));
            co_await eventually_async([&] { return completed == 1; });
            CHECK((!result || result == boost::asio::error::operation_aborted));
            auto [ec, none] = co_await q.try_take(as_tuple());
            CHECK(ec == errc::would_block);
            wall.turn(2h);
            while (taken.size() < 3) {
                queue_item item = co_await q.take();
                taken.push_back(item.data);
            }
            CHECK(taken == std::vector<std::string>{"0", "1", "2"});
            CHECK(completed == 1);
        }
        co_await nothing_left(run.path);
        co_await other.close();
    });
}

TEST_CASE("delay queue: whoever waits for the time is cancelled at any frame") {
    cancel_at_every_frame([](fault_run& run, auto slot) -> awaitable<void> {
        hand_clock wall;
        client other = co_await healthy_client();
        {
            delay_queue producer(other, run.path + "/q", queue_options(), wall.reader());
            co_await producer.put("a", 20ms);
            delay_queue q(run.zk, run.path + "/q", queue_options(), wall.reader());
            int completed = 0;
            error_code result;
            q.take(boost::asio::bind_cancellation_slot(slot, [&](error_code ec, queue_item) {
                ++completed;
                result = ec;
            }));
            co_await eventually_async(
                [&] { return completed == 1 || watch_count(shared_server().port()) == 1; });
            wall.turn(20ms);
            co_await eventually_async([&] { return completed == 1; });
            CHECK((!result || result == boost::asio::error::operation_aborted));
            if (result) {
                queue_item item = co_await producer.take();
                CHECK(item.data == "a");
            }
            // A take that was cancelled puts its item back in the background.
            co_await eventually_async([&] { return items_at(run.path + "/q").empty(); });
        }
        co_await nothing_left(run.path);
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
        co_await nothing_left(run.path);
        CHECK(items_at(run.path + "/q") == std::vector<std::string>{"2"});
    });
}

TEST_CASE("delay queue: an object destroyed at any frame of a take loses nothing") {
    cancel_at_every_frame([](fault_run& run, auto slot) -> awaitable<void> {
        hand_clock wall;
        client other = co_await healthy_client();
        {
            delay_queue producer(other, run.path + "/q", queue_options(), wall.reader());
            co_await producer.put("a", 10ms);
            auto q = std::make_unique<delay_queue>(
                run.zk, run.path + "/q", queue_options(), wall.reader());
            int completed = 0;
            std::string got;
            slot.assign([&](boost::asio::cancellation_type) { q.reset(); });
            q->take([&](error_code, queue_item item) {
                ++completed;
                got = item.data;
            });
            co_await eventually_async(
                [&] { return completed == 1 || watch_count(shared_server().port()) == 1; });
            wall.turn(10ms);
            co_await eventually_async([&] { return completed == 1; });
            slot.clear();
            if (got.empty()) {
                queue_item item = co_await producer.take();
                got = item.data;
            }
            CHECK(got == "a");
            q.reset();
        }
        co_await nothing_left(run.path);
        co_await other.close();
    });
}
