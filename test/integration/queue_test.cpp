// SPDX-License-Identifier: Apache-2.0
// ctest: ALONE
#include "live_blocks.hpp"
#include "pending_result.hpp"
#include <corozk/recipe/queue.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

namespace corozk::testing::queue_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

awaitable<void> take_many(basic_queue& q, std::vector<std::string>& taken, int count, int& left) {
    for (int i = 0; i < count; ++i) {
        queue_item item = co_await q.take();
        taken.push_back(std::move(item.data));
    }
    --left;
}

/// Works until the queue is empty.
awaitable<void> drain(basic_queue& q, std::vector<std::string>& done, int& left) {
    for (;;) {
        auto [ec, claim] = co_await q.try_consume(as_tuple());
        if (ec)
            break;
        std::string data = claim.data();
        co_await claim.acknowledge();
        done.push_back(std::move(data));
    }
    --left;
}

}  // namespace

TEST_CASE("queue: first in, first out") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        queue q(zk, path + "/q");
        for (int i = 0; i < 5; ++i)
            co_await q.put(std::to_string(i));
        std::vector<std::string> more{"5", "6", "7"};
        co_await q.put_many(more);
        std::size_t size = co_await q.count_items();
        CHECK(size == 8);
        queue_item first = co_await q.peek();
        CHECK(first.data == "0");
        for (int i = 0; i < 8; ++i) {
            queue_item item = co_await q.take();
            CHECK(item.data == std::to_string(i));
        }
        auto [ec, none] = co_await q.try_take(as_tuple());
        CHECK(ec == errc::would_block);
        auto [peek_ec, nothing] = co_await q.peek(as_tuple());
        CHECK(peek_ec == errc::would_block);
        size = co_await q.count_items();
        CHECK(size == 0);
    });
}

TEST_CASE("queue: a waiting take gets what comes, and deadlines pass") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        queue q(zk, path + "/q");
        auto [ec, none] = co_await q.take_until(steady_clock::now() + 50ms, as_tuple());
        CHECK(ec == errc::deadline_exceeded);
        client other = co_await one_more_client();
        queue producer(other, path + "/q");
        std::vector<std::string> taken;
        int left = 10;
        for (int i = 0; i < 10; ++i) {
            boost::asio::co_spawn(co_await boost::asio::this_coro::executor,
                                  take_many(q, taken, 2, left),
                                  boost::asio::detached);
        }
        co_await watches_at_server(1);
        for (int i = 0; i < 20; ++i)
            co_await producer.put(std::to_string(i));
        co_await eventually_async([&] { return left == 0; });
        CHECK(std::set<std::string>(taken.begin(), taken.end()).size() == 20);
        co_await watches_at_server(0);
        co_await other.close();
    });
}

TEST_CASE("queue: one listing serves many takes") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        queue q(zk, path + "/q");
        std::vector<std::string> items;
        for (int i = 0; i < 500; ++i)
            items.push_back(std::to_string(i));
        co_await q.put_many(items);
        auto before = zk.counters().listings;
        std::vector<std::string> taken;
        int left = 1;
        co_await take_many(q, taken, 500, left);
        CHECK(taken == items);
        CHECK(zk.counters().listings - before <= 3);
    });
}

TEST_CASE("queue: several processes drain one") {
    with_client(
        [](client& zk, std::string path) -> awaitable<void> {
            auto executor = co_await boost::asio::this_coro::executor;
            queue producer(zk, path + "/q");
            std::vector<client> clients;
            std::vector<std::unique_ptr<queue>> queues;
            for (int i = 0; i < 4; ++i) {
                client next = co_await one_more_client();
                clients.push_back(std::move(next));
                queues.push_back(std::make_unique<queue>(clients.back(), path + "/q"));
            }
            std::set<std::string> all;
            for (bool consuming : {false, true}) {
                std::vector<std::string> items;
                for (int i = 0; i < 400; ++i)
                    items.push_back(std::to_string(i));
                co_await producer.put_many(items);
                std::vector<std::string> taken;
                int left = 4 * 5;
                for (auto& q : queues) {
                    for (int i = 0; i < 5; ++i) {
                        if (consuming) {
                            boost::asio::co_spawn(
                                executor, drain(*q, taken, left), boost::asio::detached);
                        } else {
                            boost::asio::co_spawn(
                                executor, take_many(*q, taken, 20, left), boost::asio::detached);
                        }
                    }
                }
                co_await eventually_async([&] { return left == 0; }, 60s);
                // Who found nothing to claim left the rest to those who had claimed it.
                CHECK(taken.size() == 400);
                CHECK(std::set<std::string>(taken.begin(), taken.end()).size() == 400);
                CHECK(observer().children(path + "/q").empty());
            }
            queues.clear();
            for (client& c : clients)
                co_await c.close();
            co_await watches_at_server(0);
        },
        150s);
}

TEST_CASE("queue: a window of the first items") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        constexpr std::size_t window = 5;
        constexpr int count = 60;
        queue_options options;
        options.window = window;
        std::string folder = path + "/q";
        queue q(zk, folder, options);
        std::set<int> left;
        std::vector<std::string> items;
        for (int i = 0; i < count; ++i) {
            left.insert(i);
            items.push_back(std::to_string(i));
        }
        co_await q.put_many(items);
        std::size_t most_passed = 0;
        for (int i = 0; i < count; ++i) {
            queue another(zk, folder, options);  // begins somewhere else
            std::string data;
            if (i % 2 == 0) {
                queue_item item = co_await another.take();
                data = item.data;
            } else {
                queue_claim claim = co_await another.consume();
                data = claim.data();
                co_await claim.acknowledge();
            }
            auto at = left.find(std::stoi(data));
            REQUIRE(at != left.end());
            auto passed = static_cast<std::size_t>(std::distance(left.begin(), at));
            most_passed = std::max(most_passed, passed);
            left.erase(at);
        }
        CHECK(most_passed > 0);
        CHECK(most_passed < window);
        CHECK(left.empty());

        // Others see the same items, in order.
        queue strict(zk, folder);
        co_await q.put_many(items);
        queue_item first = co_await q.peek();
        CHECK(first.data == "0");
        first = co_await strict.take();
        CHECK(first.data == "0");

        options.window = 0;
        queue none(zk, folder, options);
        auto [refused, nothing] = co_await none.take(as_tuple());
        CHECK(refused == errc::bad_option);
    });
}

TEST_CASE("queue: what is claimed is nobody else's until it comes back") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        queue a(zk, path + "/q");
        queue b(other, path + "/q");
        co_await a.put("one");
        queue_claim claim = co_await a.consume();
        CHECK(claim.data() == "one");
        CHECK(claim.valid());
        CHECK(claim.fencing_token() > 0);
        auto [ec, none] = co_await b.try_consume(as_tuple());
        CHECK(ec == errc::would_block);
        auto [take_ec, nothing] = co_await b.try_take(as_tuple());
        CHECK(take_ec == errc::would_block);

        // Another process waits, and gets it when it is released.
        pending_result<queue_claim> second;
        b.consume(second.handler());
        co_await watches_at_server(2);
        CHECK_FALSE(second.done());
        co_await claim.release();
        CHECK(!co_await finished(second));
        CHECK(second.value().data() == "one");
        CHECK(second.value().fencing_token() > claim.fencing_token());
        CHECK_FALSE(claim.valid());
        auto [late] = co_await claim.acknowledge(transaction(), as_tuple());
        CHECK(late == errc::ownership_lost);

        // Its session ends: the item is back.
        pending_result<queue_claim> back;
        a.consume(back.handler());
        co_await other.close();
        CHECK(!co_await finished(back));
        claim = std::move(back.value());
        CHECK(claim.data() == "one");
        transaction extra;
        extra.create(path + "/effect", "done");
        co_await claim.acknowledge(extra);
        CHECK(observer().data(path + "/effect") == "done");
        CHECK(observer().children(path + "/q").empty());
    });
}

TEST_CASE("queue: an acknowledgement is all or nothing") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        queue q(zk, path + "/q");
        co_await q.put("one");
        queue_claim claim = co_await q.consume();
        transaction bad;
        bad.create(path + "/effect").check(path + "/missing");
        auto [ec] = co_await claim.acknowledge(bad, as_tuple());
        CHECK(ec == zk_errc::no_node);
        CHECK(claim.valid());
        CHECK_FALSE(observer().exists(path + "/effect"));
        co_await claim.acknowledge();

        co_await q.put("two");
        claim = co_await q.consume();
        pending_result<error_code> lost, second;
        claim.wait_lost(lost.handler());
        claim.wait_lost(second.handler());
        CHECK(co_await finished(second) == errc::busy);
        CHECK_FALSE(lost.done());
        admin hand = observer();
        std::string claim_path = claim.path();
        co_await watches_at_server(1);
        hand.erase(claim_path);
        CHECK(!co_await finished(lost));
        CHECK(lost.value() == errc::ownership_lost);
        CHECK(co_await claim.wait_lost() == errc::ownership_lost);
        CHECK_FALSE(claim.valid());
        auto [late] = co_await claim.acknowledge(transaction(), as_tuple());
        CHECK(late == errc::ownership_lost);
        queue_item item = co_await q.take();
        CHECK(item.data == "two");
    });
}

TEST_CASE("queue: a claim that was erased does not end the next one") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        queue a(zk, path + "/q");
        queue b(other, path + "/q");
        for (bool acknowledging : {true, false}) {
            co_await a.put("one");
            queue_claim first = co_await a.consume();
            for (int i = 0; i < 6; ++i) {
                observer().erase(first.path());
                queue& next = i % 2 == 0 ? b : a;
                queue_claim second = co_await next.consume();
                if (acknowledging) {
                    auto [ec] = co_await first.acknowledge(transaction(), as_tuple());
                    CHECK(ec == errc::ownership_lost);
                } else {
                    co_await first.release();
                }
                CHECK(observer().exists(second.path()));
                first = std::move(second);
            }
            co_await first.acknowledge();
            CHECK(observer().children(path + "/q").empty());
        }
        co_await other.close();
    });
}

TEST_CASE("queue: a dropped claim goes back, a hundred times under one name") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        queue q(zk, path + "/q");
        co_await q.put("one");
        std::string name;
        for (int i = 0; i < 100; ++i) {
            queue_claim claim = co_await q.consume();
            if (i == 0)
                name = claim.name();
            CHECK(claim.name() == name);
        }
        queue_item item = co_await q.take();
        CHECK(item.name == name);
    });
}

TEST_CASE("priority queue: lower numbers first, newcomers at once") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        priority_queue q(zk, path + "/q");
        std::vector<std::string> low;
        for (int i = 0; i < 100; ++i)
            low.push_back("low" + std::to_string(i));
        co_await q.put_many(low, 50);
        co_await q.put("low late", 50);
        queue_item item = co_await q.take();
        CHECK(item.data == "low0");
        CHECK(item.priority == 50);
        client other = co_await one_more_client();
        priority_queue producer(other, path + "/q");
        for (int i = 0; i < 20; ++i) {
            co_await producer.put("high" + std::to_string(i), -i);
            item = co_await q.take();
            CHECK(item.data == "high" + std::to_string(i));
            item = co_await q.take();
            CHECK(item.data == "low" + std::to_string(i + 1));
        }
        co_await producer.put("urgent", 1);
        queue_claim claim = co_await q.consume();
        CHECK(claim.data() == "urgent");
        CHECK(claim.priority() == 1);
        co_await claim.acknowledge();
        co_await other.close();
    });
}

TEST_CASE("queue: the bound holds with many producers") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        queue_options options;
        options.bound = 5;
        queue q(zk, path + "/q", options);
        std::vector<client> clients;
        std::vector<std::unique_ptr<queue>> producers;
        int left = 3 * 4;
        auto produce = [&](queue& p) -> awaitable<void> {
            for (int i = 0; i < 10; ++i)
                co_await p.put("x");
            --left;
        };
        for (int i = 0; i < 3; ++i) {
            client next = co_await one_more_client();
            clients.push_back(std::move(next));
            producers.push_back(std::make_unique<queue>(clients.back(), path + "/q", options));
            for (int k = 0; k < 4; ++k) {
                boost::asio::co_spawn(executor, produce(*producers.back()), boost::asio::detached);
            }
        }
        co_await eventually_async([&] { return observer().children(path + "/q").size() == 5; });
        auto [full] = co_await q.try_put("y", as_tuple());
        CHECK(full == errc::would_block);
        std::vector<std::string> two(2, "y");
        auto [no_room] = co_await q.try_put_many(two, as_tuple());
        CHECK(no_room == errc::would_block);
        auto [late] = co_await q.put_until("y", steady_clock::now() + 30ms, as_tuple());
        CHECK(late == errc::deadline_exceeded);
        std::vector<std::string> six(6, "y");
        auto [large] = co_await q.put_many(six, as_tuple());
        CHECK(large == errc::too_large);
        admin hand = observer();
        std::size_t most = 0;
        for (int i = 0; i < 120; ++i) {
            most = std::max(most, hand.children(path + "/q").size());
            co_await q.take();
        }
        CHECK(most == 5);
        co_await eventually_async([&] { return left == 0; });
        CHECK(hand.children(path + "/q").empty());

        // Room for one of two.
        std::vector<std::string> four(4, "z");
        co_await q.try_put_many(four);
        std::tie(no_room) = co_await q.try_put_many(two, as_tuple());
        CHECK(no_room == errc::would_block);
        CHECK(hand.children(path + "/q").size() == 4);
        co_await q.try_put("z");
        for (int i = 0; i < 5; ++i)
            co_await q.take();

        options.bound = 6;
        queue differs(zk, path + "/q", options);
        auto [mismatch] = co_await differs.put("x", as_tuple());
        CHECK(mismatch == errc::limit_mismatch);
        producers.clear();
        for (client& c : clients)
            co_await c.close();
    });
}

TEST_CASE("queue: the names of Curator and Kazoo") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        admin hand = observer();
        queue_options options;
        options.compatibility = compatibility::curator;
        queue curator(zk, path + "/curator", options);
        co_await curator.put("a");
        CHECK(hand.children(path + "/curator") == std::vector<std::string>{"qn-0000000000"});
        create_options sequential;
        sequential.mode = create_mode::persistent_sequential;
        co_await zk.create(path + "/curator/qn-", "b", sequential);
        queue_item item = co_await curator.take();
        CHECK(item.data == "a");
        item = co_await curator.take();
        CHECK(item.data == "b");

        priority_queue no_priorities(zk, path + "/curator", options);
        auto [untaken, no_item] = co_await no_priorities.take(as_tuple());
        CHECK(untaken == errc::bad_option);

        options.compatibility = compatibility::kazoo;
        priority_queue kazoo(zk, path + "/kazoo", options);
        co_await kazoo.put("a", 100);
        CHECK(hand.children(path + "/kazoo") == std::vector<std::string>{"entry-100-0000000000"});
        hand.plant(path + "/kazoo/entry-007-0000000009", "b");
        item = co_await kazoo.take();
        CHECK(item.data == "b");
        CHECK(item.priority == 7);
        auto [ec] = co_await kazoo.put("c", 1000, as_tuple());
        CHECK(ec == errc::bad_option);
        queue plain(zk, path + "/kazoo", options);
        item = co_await plain.take();
        CHECK(item.data == "a");
    });
}

TEST_CASE("queue: ephemeral items go with their producer, and cannot be claimed") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        queue_options options;
        options.mode = create_mode::ephemeral;
        queue producer(other, path + "/q", options);
        queue q(zk, path + "/q", options);
        co_await producer.put("a");
        co_await producer.put("b");
        queue_item item = co_await q.take();
        CHECK(item.data == "a");
        auto [ec, claim] = co_await q.try_consume(as_tuple());
        CHECK(ec == errc::not_supported);
        options.mode = create_mode::ephemeral_sequential;
        queue unusual(zk, path + "/q", options);
        auto [refused] = co_await unusual.put("c", as_tuple());
        CHECK(refused == errc::bad_option);
        co_await other.close();
        co_await zk.sync(path);
        std::size_t size = co_await q.count_items();
        CHECK(size == 0);
    });
}

TEST_CASE("queue: foreign children and vanished folders") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        admin hand = observer();
        for (const char* name : {"/q/ready", "/q/queue-", "/q/queue-12", "/q/0000000001"}) {
            hand.plant(path + name);
        }
        queue q(zk, path + "/q");
        auto [ec, none] = co_await q.try_take(as_tuple());
        CHECK(ec == errc::would_block);
        co_await q.put("a");
        hand.erase_recursively(path + "/q");
        hand.erase_recursively(path + "/q-control");
        co_await q.put("b");
        queue_item item = co_await q.take();
        CHECK(item.data == "b");

        pending_result<queue_item> taken;
        q.take(taken.handler());
        co_await watches_at_server(1);
        hand.erase_recursively(path + "/q");
        co_await eventually_async([&] { return hand.exists(path + "/q"); });
        co_await q.put("c");
        CHECK(!co_await finished(taken));
        CHECK(taken.value().data == "c");
    });
}

TEST_CASE("queue: what was read of a folder is not taken for what is in the next one") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        queue producer(other, path + "/q");
        queue q(zk, path + "/q");
        co_await producer.put("a");
        co_await producer.put("b");
        queue_item item = co_await q.take();
        CHECK(item.data == "a");
        observer().erase_recursively(path + "/q");
        co_await producer.put("c");
        co_await producer.put("d");
        item = co_await q.take();
        CHECK(item.data == "c");
        item = co_await q.take();
        CHECK(item.data == "d");
        co_await other.close();
    });
}

TEST_CASE("queue: an item may have the name of one that was acknowledged") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        queue q(zk, path + "/q");
        for (const char* data : {"a", "b"}) {
            co_await q.put(data);
            queue_claim claim = co_await q.consume_until(steady_clock::now() + 20s);
            CHECK(claim.data() == data);
            CHECK(claim.name() == "queue-0000000000");
            co_await claim.acknowledge();
            observer().erase_recursively(path + "/q");
        }
    });
}

TEST_CASE("queue: an empty queue's folder stays, as its sequence must go on") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        queue q(zk, path + "/q");
        co_await q.put("a");
        auto record = co_await zk.exists(path + "/q");
        CHECK(record.value().ephemeral_owner == 0);
    });
}

TEST_CASE("queue: calls that have ended do not pile up behind one that waits") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        queue q(zk, path + "/q");
        pending_result<queue_item> waiting;
        q.take(waiting.handler());
        co_await watches_at_server(1);
        auto ask_in_vain = [&]() -> awaitable<void> {
            for (int i = 0; i < 200; ++i) {
                auto [ec, none] = co_await q.try_take(as_tuple());
                CHECK(ec == errc::would_block);
            }
        };
        co_await ask_in_vain();  // whatever is kept for later use is there now
        std::int64_t before = live_blocks;
        co_await ask_in_vain();
        CHECK(live_blocks - before < 100);
        co_await q.put("a");
        CHECK(!co_await finished(waiting));
    });
}

TEST_CASE("queue: operations that begin after their object has gone") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        auto q = std::make_unique<queue>(zk, path + "/q");
        co_await q->put("a");
        queue_claim claim = co_await q->consume();
        auto put = q->put("b", boost::asio::deferred);
        auto take = q->take(boost::asio::deferred);
        auto peek = q->peek(boost::asio::deferred);
        auto consume = q->consume(boost::asio::deferred);
        auto size = q->count_items(boost::asio::deferred);
        auto acknowledge = claim.acknowledge(transaction(), boost::asio::deferred);
        auto release = claim.release(boost::asio::deferred);
        auto lost = claim.wait_lost(boost::asio::deferred);
        q.reset();
        claim = queue_claim();
        pending_result<> put_ended, acknowledge_ended, release_ended;
        pending_result<error_code> lost_ended;
        pending_result<queue_item> take_ended, peek_ended;
        pending_result<queue_claim> consume_ended;
        pending_result<std::size_t> size_ended;
        std::move(put)(put_ended.handler());
        std::move(take)(take_ended.handler());
        std::move(peek)(peek_ended.handler());
        std::move(consume)(consume_ended.handler());
        std::move(size)(size_ended.handler());
        std::move(acknowledge)(acknowledge_ended.handler());
        std::move(release)(release_ended.handler());
        std::move(lost)(lost_ended.handler());
        auto aborted = boost::asio::error::operation_aborted;
        CHECK(co_await finished(put_ended) == aborted);
        CHECK(co_await finished(take_ended) == aborted);
        CHECK(co_await finished(peek_ended) == aborted);
        CHECK(co_await finished(consume_ended) == aborted);
        CHECK(co_await finished(size_ended) == aborted);
        CHECK(co_await finished(acknowledge_ended) == aborted);
        CHECK(co_await finished(release_ended) == aborted);
        CHECK(co_await finished(lost_ended) == aborted);
    });
}

TEST_CASE("priority queue: what comes back from another consumer is not overlooked") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        priority_queue q(zk, path + "/q");
        priority_queue theirs(other, path + "/q");
        co_await theirs.put("urgent", 1);
        queue_claim claim = co_await theirs.consume();
        std::vector<std::string> low(100, "low");
        co_await theirs.put_many(low, 9);
        // Those that ask for the same are served together; so the queue is busy for many rounds.
        constexpr int rounds = 50;
        std::vector<pending_result<queue_claim>> consumed(rounds);
        std::vector<pending_result<queue_item>> taken(rounds);
        for (int i = 0; i < rounds; ++i) {
            auto index = static_cast<std::size_t>(i);
            q.consume(consumed[index].handler());
            q.take(taken[index].handler());
        }
        co_await finished(consumed.front());
        co_await claim.release();
        int urgent = 0;
        for (auto& one : consumed) {
            co_await finished(one);
            urgent += one.value().data() == "urgent" ? 1 : 0;
        }
        for (auto& one : taken) {
            co_await finished(one);
            urgent += one.value().data == "urgent" ? 1 : 0;
        }
        CHECK(urgent == 1);
        consumed.clear();
        co_await watches_at_server(0);
        co_await other.close();
    });
}

TEST_CASE("queue: an item below which strangers have a node is left alone until that has gone") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        admin hand = observer();
        queue q(zk, path + "/q");
        co_await q.put("a");
        const std::string planted = path + "/q/queue-0000000000/x";
        hand.plant(planted);
        pending_result<queue_item> taken;
        q.take(taken.handler());
        co_await watches_at_server(2);  // of newcomers, and of the item
        auto before = zk.counters().requests;
        for (int i = 0; i < 200; ++i)
            co_await other.sync(path);
        CHECK(zk.counters().requests - before < 20);
        CHECK_FALSE(taken.done());
        hand.erase(planted);
        CHECK(!co_await finished(taken));
        CHECK(taken.value().data == "a");
        co_await watches_at_server(0);
        co_await other.close();
    });
}

TEST_CASE("queue: small requests") {
    with_client([](client&, std::string path) -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        client_options options = options_for(shared_server().hosts());
        options.max_request_size = 1024;
        client frugal = co_await client::connect(executor, options);
        queue q(frugal, path + "/q");
        for (std::size_t size : {1024U, 900U}) {
            auto [ec] = co_await q.put(std::string(size, 'x'), as_tuple());
            CHECK(ec == errc::too_large);
        }
        std::vector<pending_result<>> puts(64);
        std::vector<pending_result<queue_item>> takes(64);
        for (pending_result<>& put : puts)
            q.put("x", put.handler());
        for (pending_result<>& put : puts)
            CHECK(!co_await finished(put));
        for (pending_result<queue_item>& take : takes)
            q.take(take.handler());
        for (pending_result<queue_item>& take : takes)
            CHECK(!co_await finished(take));
        co_await frugal.close();
    });
}

TEST_CASE("queue: too large, empty, closed") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        queue q(zk, path + "/q");
        auto [ec] = co_await q.put(std::string(2 << 20, 'x'), as_tuple());
        CHECK(ec == errc::too_large);
        std::vector<std::string> nothing;
        co_await q.put_many(nothing);
        co_await q.put(std::string(900'000, 'x'));
        co_await q.put("");
        queue_item item = co_await q.take();
        CHECK(item.data.size() == 900'000);
        item = co_await q.take();
        CHECK(item.data.empty());

        client empty;
        queue none(empty, path + "/q");
        auto [closed] = co_await none.put("x", as_tuple());
        CHECK(closed == errc::closed);

        pending_result<queue_item> first, second;
        {
            queue short_lived(zk, path + "/q");
            short_lived.take(first.handler());
            co_await watches_at_server(1);
        }
        ec = co_await finished(first);
        CHECK(ec == boost::asio::error::operation_aborted);
        co_await watches_at_server(0);
        q.take(second.handler());
        co_await zk.close();
        ec = co_await finished(second);
        CHECK(ec == errc::closed);
        CHECK(first.calls() + second.calls() == 2);
    });
}

TEST_CASE("queue: nothing of an object is left behind") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        {
            queue q(zk, path + "/q");
            co_await q.put("a");
            co_await q.put("b");
            co_await q.take();
            queue_claim claim = co_await q.consume();
        }
        co_await eventually_async([&] {
            return observer().children(path + "/q-control").empty() &&
                   ephemerals(shared_server().port()).empty();
        });
        CHECK(observer().children(path + "/q").size() == 1);
    });
}

TEST_CASE("queue: nothing of an object is left behind if its client is closed at once") {
    with_client([](client&, std::string path) -> awaitable<void> {
        for (int what = 0; what < 3; ++what) {
            CAPTURE(what);
            client zk = co_await one_more_client();
            {
                queue items(zk, path);
                co_await items.put("item");
                if (what == 1)
                    co_await items.take();
                if (what == 2) {
                    queue_claim claim = co_await items.consume();
                    co_await claim.acknowledge();
                }
            }
            co_await zk.close();
            CHECK(observer().children(path + "-control").empty());
        }
    });
}

TEST_CASE("queue: a put in flight ends with its object") {
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    run(context, [&]() -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        client zk = co_await client::connect(executor, options_for(proxy.hosts(), steady_session));
        const std::string path = fresh_path();
        auto items = std::make_unique<queue>(zk, path);
        co_await items->put("first");
        const rule_id rule = proxy.arm(at_op(op_code::multi), hold_request());
        pending_result<> putting;
        items->put("second", putting.handler());
        co_await eventually_async([&] { return proxy.statistics().held > 0; });
        items.reset();
        CHECK(co_await finished(putting) == boost::asio::error::operation_aborted);
        CHECK(proxy.statistics().held > 0);
        proxy.release(rule);
        co_await settle(zk);
        CHECK(observer().children(path).size() == 2);
        co_await eventually_async([&] { return observer().children(path + "-control").empty(); });
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("queue: a list of rights that lets nobody write is refused, and leaves one node") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        queue_options options;
        const permission rights = permission::read | permission::create | permission::erase;
        options.acl.emplace_back(rights, "world", "anyone");
        std::string folder = path + "/q";
        {
            queue q(zk, folder, options);
            for (int i = 0; i < 2; ++i) {
                auto [put] = co_await q.put("item", as_tuple());
                CHECK(put == zk_errc::no_auth);
            }
            node_children ledgers = co_await zk.get_children(folder + "-control");
            CHECK(ledgers.names.size() == 1);
        }
        admin hand = observer();
        co_await eventually_async([&] { return hand.children(folder + "-control").empty(); });

        queue theirs(zk, folder);
        co_await theirs.put("item");
        queue q(zk, folder, options);
        auto [taken, none] = co_await q.take(as_tuple());
        CHECK(taken == zk_errc::no_auth);
        queue_item item = co_await theirs.take();
        CHECK(item.data == "item");
    });
}

TEST_CASE("queue: a claim is known by its node, not by what stands in it") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        queue items(zk, path + "/q");
        co_await items.put("one");
        queue_claim claim = co_await items.consume();
        std::string data = observer().data(claim.path());
        pending_result<error_code> lost;
        claim.wait_lost(lost.handler());
        co_await eventually_async([&] { return watch_count(shared_server().port()) > 0; });
        transaction swap;
        swap.erase(claim.path()).create(claim.path(), data);
        co_await zk.commit(swap);
        co_await finished(lost);
        CHECK(lost.good());
        CHECK(lost.value() == errc::ownership_lost);
        CHECK_FALSE(claim.valid());
        auto [ec] = co_await claim.acknowledge(transaction(), as_tuple());
        CHECK(ec == errc::ownership_lost);
        CHECK(observer().children(path + "/q").size() == 1);
        observer().erase(claim.path());
    });
}

}  // namespace corozk::testing::queue_test
