// SPDX-License-Identifier: Apache-2.0
#include "hand_clock.hpp"
#include "own_requests.hpp"
#include "pending_result.hpp"
#include <corozk/recipe/delay_queue.hpp>

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace corozk::testing::delay_queue_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using std::chrono::steady_clock;
using std::chrono::system_clock;
using namespace std::chrono_literals;

TEST_CASE("delay queue: the earlier due first, ties by arrival, and nothing that is not due") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        hand_clock wall;
        delay_queue q(zk, path + "/q", queue_options(), wall.reader());
        co_await q.put("c", 30ms);
        co_await q.put("a", wall.now() + 10ms);
        co_await q.put("b1", 20ms);
        co_await q.put("b2", wall.now() + 20ms);
        std::vector<std::string> more{"d1", "d2"};
        co_await q.put_many(more, 40ms);
        co_await q.try_put("now", 0ms);
        co_await q.put_until("past", wall.now() - 1h, steady_clock::now() + 10s);
        std::size_t size = co_await q.count_items();
        CHECK(size == 8);

        queue_item item = co_await q.peek();
        CHECK(item.data == "past");
        CHECK(item.due == wall.now() - 1h);
        item = co_await q.take();
        CHECK(item.data == "past");
        item = co_await q.try_take();
        CHECK(item.data == "now");
        CHECK(item.due == wall.now());
        CHECK(item.priority == 0);
        auto [ec, none] = co_await q.try_take(as_tuple());
        CHECK(ec == errc::would_block);
        auto [peeked, nothing] = co_await q.peek(as_tuple());
        CHECK(peeked == errc::would_block);
        auto [consumed, claim] = co_await q.try_consume(as_tuple());
        CHECK(consumed == errc::would_block);
        auto [late, never] = co_await q.take_until(steady_clock::now() + 30ms, as_tuple());
        CHECK(late == errc::deadline_exceeded);

        wall.turn(19ms);
        item = co_await q.try_take();
        CHECK(item.data == "a");
        auto [early, still] = co_await q.try_take(as_tuple());
        CHECK(early == errc::would_block);
        wall.turn(100ms);
        for (const char* expected : {"b1", "b2", "c", "d1", "d2"}) {
            item = co_await q.take();
            CHECK(item.data == expected);
        }
        CHECK(observer().children(path + "/q").empty());
    });
}

TEST_CASE("delay queue: with the system's clock, and several takers, nothing comes early") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        client other = co_await one_more_client();
        delay_queue mine(zk, path + "/q");
        delay_queue theirs(other, path + "/q");
        constexpr int count = 40;
        std::map<std::string, int> taken;
        auto take = [&](delay_queue& q) -> awaitable<void> {
            queue_item item = co_await q.take();
            CHECK(system_clock::now() >= item.due);
            ++taken[item.data];
        };
        for (int i = 0; i < count; ++i)
            boost::asio::co_spawn(
                executor, take(i % 2 == 0 ? mine : theirs), boost::asio::detached);
        for (int i = 0; i < count; ++i)
            co_await mine.put(std::to_string(i), std::chrono::milliseconds((i * 37) % 200));
        co_await eventually_async([&] { return taken.size() == count; });
        for (const auto& [data, times] : taken)
            CHECK(times == 1);
        CHECK(observer().children(path + "/q").empty());
        co_await watches_at_server(0);
        co_await other.close();
    });
}

TEST_CASE("delay queue: who waits is woken by what is due earlier") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        hand_clock wall;
        client other = co_await one_more_client();
        delay_queue q(zk, path + "/q", queue_options(), wall.reader());
        delay_queue producer(other, path + "/q", queue_options(), wall.reader());
        pending_result<queue_item> taken;
        q.take(taken.handler());
        co_await watches_at_server(1);
        co_await producer.put("in an hour", 1h);
        co_await producer.put("in a minute", 1min);
        co_await producer.put("at once", 0s);
        CHECK(!co_await finished(taken));
        CHECK(taken.value().data == "at once");
        co_await watches_at_server(0);
        CHECK(observer().children(path + "/q").size() == 2);
        co_await other.close();
    });
}

TEST_CASE("delay queue: a taker's clock that jumps shifts items, and does nothing else") {
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            hand_clock wall;
            hand_clock takers;
            delay_queue producer(zk, path + "/q", queue_options(), wall.reader());
            delay_queue q(zk, path + "/q", queue_options(), takers.reader());
            co_await producer.put("a", 1h);
            co_await producer.put("b", 2h);
            pending_result<queue_item> first;
            q.take(first.handler());
            co_await watches_at_server(1);

            // Back, and forth again, but not far enough: it goes on waiting, and asks the server nothing.
            const rule_id requests = count(proxy, at_own_request(path));
            takers.turn(-48h);
            co_await q.count_items();
            takers.turn(48h + 59min);
            co_await q.count_items();
            CHECK_FALSE(first.done());
            CHECK(proxy.fired(requests) == 2);

            // Ahead: a second later at most it has noticed.
            takers.turn(1min);
            CHECK(!co_await finished(first));
            CHECK(first.value().data == "a");

            // What was due is not due any more, and comes when the clock says so again.
            takers.turn(1h);
            queue_item item = co_await q.peek();
            CHECK(item.data == "b");
            takers.turn(-1ms);
            auto [ec, none] = co_await q.try_take(as_tuple());
            CHECK(ec == errc::would_block);
            takers.turn(1ms);
            item = co_await q.try_take();
            CHECK(item.data == "b");

            // A producer's clock that goes back puts before what is there.
            co_await producer.put("c", 0s);
            wall.turn(-1h);
            co_await producer.put("d", 0s);
            item = co_await q.take();
            CHECK(item.data == "d");
            item = co_await q.take();
            CHECK(item.data == "c");
            CHECK(observer().children(path + "/q").empty());
        },
        run_limit,
        steady_session);
}

TEST_CASE("delay queue: one listing for each item that is waited for, and none for the time") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        hand_clock wall;
        client other = co_await one_more_client();
        delay_queue q(zk, path + "/q", queue_options(), wall.reader());
        delay_queue producer(other, path + "/q", queue_options(), wall.reader());
        // What the first removal of an object needs besides.
        co_await producer.put("", 0s);
        co_await q.take();
        std::vector<std::string> items;
        for (int i = 0; i < 100; ++i)
            items.push_back(std::to_string(i));
        co_await producer.put_many(items, 1h);
        constexpr int count = 5;
        for (int i = 1; i <= count; ++i)
            co_await producer.put("soon", std::chrono::milliseconds(10 * i));
        auto before = zk.counters().listings;
        int taken = 0;
        for (int i = 0; i < count; ++i) {
            q.take([&](error_code ec, queue_item item) {
                CHECK_FALSE(ec);
                CHECK(item.data == "soon");
                ++taken;
            });
        }
        for (int i = 1; i <= count; ++i) {
            co_await watches_at_server(1);
            wall.turn(10ms);
            co_await eventually_async([&] { return taken == i; });
        }
        // One more, as all but the first asked while its listing was under way.
        CHECK(zk.counters().listings - before <= count + 1);
        co_await watches_at_server(0);
        co_await other.close();
    });
}

TEST_CASE("delay queue: every kind of cancellation, at every stage of waiting") {
    using boost::asio::cancellation_type;
    with_client([](client& zk, std::string path) -> awaitable<void> {
        hand_clock wall;
        delay_queue q(zk, path + "/q", queue_options(), wall.reader());
        for (auto type :
             {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
            for (bool something_there : {false, true}) {
                if (something_there)
                    co_await q.put("later", 1h);
                for (bool consuming : {false, true}) {
                    pending_result<queue_item> taken;
                    pending_result<queue_claim> consumed;
                    if (consuming)
                        q.consume(consumed.handler());
                    else
                        q.take(taken.handler());
                    co_await watches_at_server(1);
                    CHECK_FALSE(taken.done());
                    CHECK_FALSE(consumed.done());
                    taken.cancel(type);
                    consumed.cancel(type);
                    error_code ec;
                    if (consuming)
                        ec = co_await finished(consumed);
                    else
                        ec = co_await finished(taken);
                    CHECK(ec == boost::asio::error::operation_aborted);
                    CHECK(taken.calls() + consumed.calls() == 1);
                    co_await watches_at_server(0);
                }
            }
            std::size_t size = co_await q.count_items();
            CHECK(size == 1);
            wall.turn(1h);
            queue_item item = co_await q.take();
            CHECK(item.data == "later");
        }
    });
}

TEST_CASE("delay queue: destroyed or closed in every state") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        hand_clock wall;
        auto q = std::make_unique<delay_queue>(zk, path + "/q", queue_options(), wall.reader());
        pending_result<queue_item> taken;
        // Before anything was sent, while it waits for an item, and while it waits for the time.
        q->take(taken.handler());
        q.reset();
        co_await finished(taken);
        CHECK(taken.error() == boost::asio::error::operation_aborted);
        for (bool something_there : {false, true}) {
            q = std::make_unique<delay_queue>(zk, path + "/q", queue_options(), wall.reader());
            if (something_there)
                co_await q->put("later", 1h);
            pending_result<queue_item> waiting;
            q->take(waiting.handler());
            co_await watches_at_server(1);
            q.reset();
            co_await finished(waiting);
            CHECK(waiting.error() == boost::asio::error::operation_aborted);
            co_await watches_at_server(0);
        }
        co_await eventually_async([&] { return observer().children(path + "/q-control").empty(); });
        CHECK(observer().children(path + "/q").size() == 1);

        delay_queue last(zk, path + "/q", queue_options(), wall.reader());
        pending_result<queue_item> closed;
        last.take(closed.handler());
        co_await watches_at_server(1);
        co_await zk.close();
        co_await finished(closed);
        CHECK(closed.error() == errc::closed);
        auto [put] = co_await last.put("x", 1s, as_tuple());
        CHECK(put == errc::closed);

        client empty;
        delay_queue none(empty, path + "/q");
        auto [ec] = co_await none.put("x", 1s, as_tuple());
        CHECK(ec == errc::closed);
    });
}

TEST_CASE("delay queue: consumers, and a claim that comes back at its old place") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        hand_clock wall;
        client other = co_await one_more_client();
        delay_queue a(zk, path + "/q", queue_options(), wall.reader());
        delay_queue b(other, path + "/q", queue_options(), wall.reader());
        co_await a.put("second", 20ms);
        co_await a.put("first", 10ms);
        wall.turn(20ms);
        queue_claim claim = co_await a.consume();
        CHECK(claim.data() == "first");
        CHECK(claim.due() == wall.now() - 10ms);
        queue_claim beside = co_await b.consume();
        CHECK(beside.data() == "second");

        // Everything is claimed: who waits is told when one comes back, whatever its clock says by then.
        pending_result<queue_item> taken;
        b.take(taken.handler());
        co_await watches_at_server(2);
        co_await claim.release();
        CHECK(!co_await finished(taken));
        CHECK(taken.value().data == "first");
        transaction effect;
        effect.create(path + "/effect");
        co_await beside.acknowledge(effect);
        CHECK(observer().exists(path + "/effect"));
        CHECK(observer().children(path + "/q").empty());
        co_await watches_at_server(0);
        co_await other.close();
    });
}

TEST_CASE("delay queue: what is not ours is neither taken nor touched") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        hand_clock wall;
        admin hand = observer();
        std::vector<std::string> foreign{"ready",
                                         "queue-0000000001",
                                         "queue-5-0000000001",
                                         "queue-31536000000-0000000001",
                                         "queue-|757B12C00|0000000001"};
        for (const std::string& name : foreign)
            hand.plant(path + "/q/" + name);
        hand.plant(path + "/q/queue-0000000000000-0000000001", "another program's");
        delay_queue q(zk, path + "/q", queue_options(), wall.reader());
        queue_item item = co_await q.take();
        CHECK(item.data == "another program's");
        CHECK(item.due == system_clock::time_point());
        auto [ec, none] = co_await q.try_take(as_tuple());
        CHECK(ec == errc::would_block);
        hand.plant(path + "/q/queue-9999999999999-0000000001", "never");
        auto [late, nothing] = co_await q.try_take(as_tuple());
        CHECK(late == errc::would_block);
        CHECK(hand.children(path + "/q").size() == foreign.size() + 1);

        // The folder may go at any time.
        pending_result<queue_item> taken;
        q.take(taken.handler());
        co_await watches_at_server(1);
        hand.erase_recursively(path + "/q");
        co_await eventually_async([&] { return hand.exists(path + "/q"); });
        co_await q.put("new", 0s);
        CHECK(!co_await finished(taken));
        CHECK(taken.value().data == "new");
        co_await watches_at_server(0);
    });
}

TEST_CASE("delay queue: options") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        hand_clock wall;
        for (auto format : {compatibility::curator, compatibility::kazoo}) {
            queue_options options;
            options.compatibility = format;
            delay_queue q(zk, path + "/q", options, wall.reader());
            auto [put] = co_await q.put("x", 1s, as_tuple());
            CHECK(put == errc::bad_option);
            auto [took, item] = co_await q.take(as_tuple());
            CHECK(took == errc::bad_option);
            auto [tried, nothing] = co_await q.try_take(as_tuple());
            CHECK(tried == errc::bad_option);
            auto [peeked, none] = co_await q.peek(as_tuple());
            CHECK(peeked == errc::bad_option);
            auto [consumed, claim] = co_await q.consume(as_tuple());
            CHECK(consumed == errc::bad_option);
        }
        queue_options options;
        options.bound = 2;
        delay_queue q(zk, path + "/q", options, wall.reader());
        co_await q.put("later", 1h);
        co_await q.put("now", 0s);
        auto [full] = co_await q.try_put("x", 0s, as_tuple());
        CHECK(full == errc::would_block);
        auto [late] = co_await q.put_until("x", 0s, steady_clock::now() + 30ms, as_tuple());
        CHECK(late == errc::deadline_exceeded);
        std::vector<std::string> three(3, "x");
        auto [large] = co_await q.put_many(three, 0s, as_tuple());
        CHECK(large == errc::too_large);
        auto [larger] = co_await q.put(std::string(2 << 20, 'x'), 0s, as_tuple());
        CHECK(larger == errc::too_large);
        pending_result<> put;
        q.put("third", 0s, put.handler());
        queue_item item = co_await q.take();
        CHECK(item.data == "now");
        CHECK(!co_await finished(put));
        item = co_await q.take();
        CHECK(item.data == "third");
        CHECK(observer().children(path + "/q").size() == 1);

        queue_options ephemeral;
        ephemeral.mode = create_mode::ephemeral;
        delay_queue passing(zk, path + "/passing", ephemeral, wall.reader());
        co_await passing.put("x", 0s);
        auto [claimed, claim] = co_await passing.consume(as_tuple());
        CHECK(claimed == errc::not_supported);
        item = co_await passing.take();
        CHECK(item.data == "x");
    });
}

}  // namespace corozk::testing::delay_queue_test
