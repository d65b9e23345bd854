// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/deadlocks.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/multi_lock.hpp>
#include <corozk/recipe/priority_lock.hpp>

#include <boost/asio/steady_timer.hpp>

#include <vector>

namespace corozk::testing::priority_lock_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

awaitable<void> gone(std::string path) {
    co_await eventually_async([&] { return observer().children(path).empty(); });
    co_await eventually_async([&] { return watches_below(path) == 0; });
}

/// Contenders and records.
awaitable<void> nodes(std::string path, std::size_t count) {
    co_await eventually_async([&] { return observer().children(path).size() == count; });
}

}  // namespace

TEST_CASE("priority_lock: the lower number first, equal ones in order, over two sessions") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        priority_lock mine(zk, path);
        priority_lock theirs(other, path);
        ownership held = co_await mine.acquire(5);
        const std::vector<int> priorities{7, 3, -2, 3, 9, -2};
        std::vector<pending_result<ownership>> results(priorities.size());
        for (std::size_t i = 0; i < priorities.size(); ++i) {
            auto& lock = i % 2 == 0 ? mine : theirs;
            lock.acquire(priorities[i], results[i].handler());
            co_await nodes(path, 3 + i);
        }
        co_await settle(zk);
        co_await settle(other);
        CHECK(held.valid());
        std::int64_t token = held.fencing_token();
        for (std::size_t next : {2u, 5u, 1u, 3u, 0u, 4u}) {
            for (std::size_t i = 0; i < results.size(); ++i)
                CHECK((!results[i].done() || !results[i].value()));
            co_await held.release();
            CHECK(!co_await finished(results[next]));
            held = std::move(results[next].value());
            CHECK(held.valid());
            CHECK(held.fencing_token() > token);
            token = held.fencing_token();
            auto record = observer().stat(held.path());
            REQUIRE(record);
            CHECK(record->czxid == token);
        }
        co_await held.release();
        co_await gone(path);
        co_await other.close();
    });
}

TEST_CASE("priority_lock: readers together, but not past a writer that comes first") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        priority_lock mine(zk, path);
        priority_lock theirs(other, path);
        ownership r1 = co_await mine.acquire_read(3);
        ownership r2 = co_await theirs.acquire_read(9);
        pending_result<ownership> writer, late, urgent;
        mine.acquire(3, writer.handler());
        co_await nodes(path, 5);
        theirs.acquire_read(3, late.handler());
        co_await nodes(path, 6);
        theirs.acquire_read(1, urgent.handler());
        CHECK(!co_await finished(urgent));
        co_await settle(zk);
        co_await settle(other);
        CHECK(!writer.done());
        CHECK(!late.done());
        auto line = co_await mine.list_contenders();
        REQUIRE(line.size() == 5);
        CHECK((line[0].holds && line[1].holds && line[2].holds && !line[3].holds));
        CHECK(line[0].path == r1.path());
        CHECK(line[0].session_id == zk.session_id());
        CHECK(line[3].kind == "write");
        CHECK(line[3].priority == 3);
        std::vector<std::string> readers{r1.path(), r2.path(), urgent.value().path()};
        CHECK(line[3].waits_for == readers);
        CHECK(line[4].waits_for == std::vector<std::string>{line[3].path});
        co_await r1.release();
        co_await urgent.value().release();
        co_await settle(zk);
        CHECK(!writer.done());
        co_await r2.release();
        CHECK(!co_await finished(writer));
        co_await settle(other);
        CHECK(!late.done());
        co_await writer.value().release();
        CHECK(!co_await finished(late));
        co_await late.value().release();
        co_await gone(path);
        co_await other.close();
    });
}

TEST_CASE("priority_lock: many readers go together after a writer") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        priority_lock mine(zk, path);
        ownership writer = co_await mine.acquire(0);
        std::vector<pending_result<ownership>> readers(100);
        for (auto& r : readers)
            mine.acquire_read(1, r.handler());
        co_await nodes(path, 102);
        co_await settle(zk);
        std::uint64_t before = zk.counters().requests;
        co_await writer.release();
        for (auto& r : readers)
            CHECK(!co_await finished(r));
        // Each of them: a look, the grant, and a watch on its nodes.
        CHECK(zk.counters().requests - before < 100 * 8);
        for (auto& r : readers)
            r.value() = ownership();
        co_await gone(path);
    });
}

TEST_CASE("priority_lock: the try and the limited forms") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        priority_lock mine(zk, path);
        priority_lock theirs(other, path);
        ownership r = co_await mine.try_acquire_read(5);
        ownership r2 = co_await theirs.try_acquire_read(7);
        auto [ec, none] = co_await theirs.try_acquire(0, as_tuple());
        CHECK(ec == errc::would_block);
        co_await r.release();
        co_await r2.release();
        ownership w = co_await mine.try_acquire(5);
        auto [read_ec, nothing] = co_await theirs.try_acquire_read(0, as_tuple());
        CHECK(read_ec == errc::would_block);
        auto [late, too_late] = co_await theirs.acquire_for(0, 50ms, as_tuple());
        CHECK(late == errc::deadline_exceeded);
        co_await nodes(path, 2);
        co_await w.release();
        co_await gone(path);
        co_await other.close();
    });
}

TEST_CASE("priority_lock: ageing protects a waiter; all must use the same") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        priority_lock_options options;
        options.ageing = 2;
        priority_lock l(zk, path, options);
        ownership held = co_await l.acquire(0);
        pending_result<ownership> old;
        l.acquire(2, old.handler());  // of five creations later at priority 0 it is the first
        co_await nodes(path, 3);
        std::vector<pending_result<ownership>> newcomers(6);
        for (std::size_t i = 0; i < newcomers.size(); ++i) {
            l.acquire(0, newcomers[i].handler());
            co_await nodes(path, 4 + i);
        }
        std::size_t overtook = 0;
        while (!old.done()) {
            REQUIRE(overtook < newcomers.size());
            co_await held.release();
            co_await eventually_async([&] { return old.done() || newcomers[overtook].done(); });
            if (old.done())
                break;
            held = std::move(newcomers[overtook].value());
            ++overtook;
        }
        CHECK(overtook == 4);  // 2 priorities * 2 creations
        CHECK(!old.error());
        CHECK(observer().data(path) == "2");
        priority_lock different(zk, path);
        auto [ec, none] = co_await different.acquire(0, as_tuple());
        CHECK(ec == errc::limit_mismatch);
        old.value() = ownership();
        for (; overtook < newcomers.size(); ++overtook) {
            CHECK(!co_await finished(newcomers[overtook]));
            newcomers[overtook].value() = ownership();
        }
        co_await gone(path);
        observer().set(path, "what is this");
        auto [foreign, nothing] = co_await l.acquire(0, as_tuple());
        CHECK(foreign == errc::foreign_data);
        co_await gone(path);
    });
}

TEST_CASE("priority_lock: a better one asks the holder to release; requests are never lost") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        priority_lock_options options("asker");
        options.ask_holder_to_release = true;
        priority_lock mine(zk, path, options);
        priority_lock theirs(other, path, priority_lock_options("holder"));
        for (int round = 0; round < 2; ++round) {
            ownership held = co_await theirs.acquire(5);
            pending_result<ownership> equal, better;
            mine.acquire(5, equal.handler());
            co_await nodes(path, 3);
            co_await settle(zk);
            CHECK(observer().data(held.path()) == "holder");
            mine.acquire(4, better.handler());
            co_await held.wait_release_requested();
            CHECK(observer().data(held.path()) == "holder\nunlock");
            CHECK(held.valid());
            co_await held.release();
            CHECK(!co_await finished(better));
            co_await better.value().release();
            CHECK(!co_await finished(equal));
            // Written to a waiter, before the grant.
            pending_result<ownership> waiter;
            theirs.acquire(6, waiter.handler());
            co_await nodes(path, 3);
            auto line = co_await mine.list_contenders();
            REQUIRE(line.size() == 2);
            co_await mine.request_release(line[1].path);
            co_await equal.value().release();
            CHECK(!co_await finished(waiter));
            co_await waiter.value().wait_release_requested();
            co_await waiter.value().release();
            co_await gone(path);
        }
        co_await other.close();
    });
}

TEST_CASE("priority_lock: contenders are broken, by either of their nodes") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        priority_lock mine(zk, path);
        priority_lock theirs(other, path);
        for (bool by_contender : {false, true}) {
            ownership held = co_await theirs.acquire(0);
            std::string target = held.path();
            if (by_contender)
                target.resize(target.rfind("-held"));
            pending_result<error_code> lost;
            held.wait_lost(lost.handler());
            co_await mine.break_contender(target);
            CHECK(!co_await finished(lost));
            CHECK(lost.value() == errc::ownership_lost);
            CHECK(!held.valid());
            auto [released] = co_await held.release(as_tuple());
            CHECK(released == errc::ownership_lost);
            co_await nodes(path, 0);
        }
        ownership held = co_await theirs.acquire(0);
        pending_result<ownership> waiter;
        mine.acquire(0, waiter.handler());
        co_await nodes(path, 3);
        auto line = co_await mine.list_contenders();
        REQUIRE(line.size() == 2);
        co_await theirs.break_contender(line[1].path);
        CHECK(co_await finished(waiter) == errc::ownership_lost);
        CHECK(held.valid());
        std::string target = held.path();
        bool removed = co_await mine.insist_on_release(target, 20ms);
        CHECK(removed);
        co_await eventually_async([&] { return !held.valid(); });
        auto [ec] = co_await mine.break_contender(path + "/something", as_tuple());
        CHECK(ec == errc::bad_path);
        co_await gone(path);
        co_await other.close();
    });
}

TEST_CASE("priority_lock: run, a part of a multi-lock, and in the search for deadlocks") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        priority_lock a(zk, path + "/a");
        auto body = [](ownership& held) -> awaitable<int> {
            CHECK(held.valid());
            co_return 42;
        };
        CHECK(co_await a.run(3, body) == 42);
        CHECK(co_await a.run_read(3, body) == 42);
        lock b(other, path + "/b");
        multi_lock both(zk);
        both.add(a, 7).add(lock(zk, path + "/b"));
        multi_ownership all = co_await both.acquire();
        CHECK(all.valid());
        co_await all.release();
        co_await gone(path + "/a");

        priority_lock other_a(other, path + "/a");
        lock my_b(zk, path + "/b");
        ownership held_a = co_await a.acquire(1);
        ownership held_b = co_await b.acquire();
        pending_result<ownership> waits_a, waits_b;
        other_a.acquire(1, waits_a.handler());
        my_b.acquire(waits_b.handler());
        co_await nodes(path + "/a", 3);
        co_await nodes(path + "/b", 2);
        std::vector<std::string> paths{path + "/a", path + "/b"};
        wait_graph graph = co_await find_deadlocks(zk, paths);
        CHECK(graph.deadlocks.size() == 1);
        waits_a.cancel();
        CHECK(co_await finished(waits_a) == boost::asio::error::operation_aborted);
        co_await nodes(path + "/a", 2);
        co_await held_b.release();
        CHECK(!co_await finished(waits_b));
        co_await waits_b.value().release();
        co_await held_a.release();
        co_await gone(path + "/a");
        co_await other.close();
    });
}

TEST_CASE("priority_lock: what makes no sense fails at once") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        priority_lock bad(zk, "no/path");
        auto [ec, none] = co_await bad.acquire(0, as_tuple());
        CHECK(ec == errc::bad_path);
        priority_lock_options options;
        options.ageing = -1;
        priority_lock negative(zk, path, options);
        auto [option_ec, nothing] = co_await negative.acquire(0, as_tuple());
        CHECK(option_ec == errc::bad_option);
        options.ageing = 0;
        options.compatibility = compatibility::curator;
        priority_lock theirs(zk, path, options);
        std::tie(option_ec, nothing) = co_await theirs.acquire(0, as_tuple());
        CHECK(option_ec == errc::bad_option);
        priority_lock good(zk, path);
        priority_lock moved(std::move(good));
        auto [moved_ec, no_lock] = co_await good.acquire(0, as_tuple());  // NOLINT
        CHECK(moved_ec == errc::closed);
        ownership held = co_await moved.acquire(0);
        co_await zk.close();
        auto [closed_ec, still_nothing] = co_await moved.acquire(0, as_tuple());
        CHECK(closed_ec == errc::closed);
        CHECK(!held.valid());
    });
}

TEST_CASE("priority lock: another node in the place of one of its two is a loss") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        admin hand(shared_server().port());
        for (bool record : {true, false}) {
            priority_lock exclusive(zk, path + (record ? "/r" : "/c"));
            ownership held = co_await exclusive.acquire(1);
            pending_result<error_code> lost;
            held.wait_lost(lost.handler());
            std::string node = held.path();
            co_await settle(zk);
            if (!record) {
                auto all = co_await exclusive.list_contenders();
                REQUIRE(all.size() == 1);
                node = all[0].path;
            }
            transaction swap;
            swap.erase(node).create(node, hand.data(node));
            co_await zk.commit(swap);
            co_await finished(lost);
            CHECK(lost.value() == errc::ownership_lost);
            transaction late;
            late.create(path + "/written", "late");
            auto [ec, results] = co_await held.commit(late, as_tuple());
            CHECK(ec == errc::ownership_lost);
            CHECK_FALSE(hand.exists(path + "/written"));
            // Of what was ours nothing is left; the other node is not ours to erase.
            co_await settle(zk);
            CHECK(hand.exists(node));
            for (const auto& [left, session] : ephemerals(shared_server().port()))
                CHECK_FALSE(left.starts_with(path + "/"));
        }
    });
}

TEST_CASE("priority lock: a guarded write checks both nodes") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        admin hand(shared_server().port());
        priority_lock exclusive(zk, path);
        ownership held = co_await exclusive.acquire(1);
        auto all = co_await exclusive.list_contenders();
        REQUIRE(all.size() == 1);
        transaction steps;
        steps.create(path + "-written", "first");
        auto results = co_await held.commit(steps);
        CHECK(results.size() == 1);
        hand.erase(all[0].path);
        transaction late;
        late.set(path + "-written", "late");
        auto [ec, late_results] = co_await held.commit(late, as_tuple());
        CHECK(ec == errc::ownership_lost);
        CHECK(hand.data(path + "-written") == "first");
    });
}

}  // namespace corozk::testing::priority_lock_test
