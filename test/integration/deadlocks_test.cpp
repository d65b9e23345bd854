// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/deadlocks.hpp>
#include <corozk/recipe/election.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/multi_lock.hpp>
#include <corozk/recipe/semaphore.hpp>
#include <corozk/recipe/shared_lock.hpp>

#include <algorithm>

namespace corozk::testing::deadlocks_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

awaitable<void> stands(const std::string& path, std::size_t count) {
    co_await eventually_async([&] { return observer().children(path).size() == count; });
}

}  // namespace

TEST_CASE(
    "deadlocks: over every recipe that queues and every naming, a circle is found and undone") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        std::string l = path + "/lock", s = path + "/shared", e = path + "/election",
                    p = path + "/semaphore", k = path + "/kazoo", c = path + "/curator";
        std::vector<std::string> paths{l, s, e, p, k, c, path + "/nothing"};
        lock_options kazoo("one");
        kazoo.compatibility = compatibility::kazoo;
        lock_options curator;
        curator.compatibility = compatibility::curator;
        // Each holds what the other one waits for.
        lock my_lock(zk, l);
        shared_lock my_shared(zk, s);
        election my_election(zk, e);
        semaphore my_permits(zk, p, 2);
        lock my_kazoo(zk, k, kazoo);
        lock my_curator(zk, c, curator);
        lock their_lock(other, l);
        shared_lock their_shared(other, s);
        election their_election(other, e);
        semaphore their_permits(other, p, 2);
        lock their_kazoo(other, k, kazoo);
        lock their_curator(other, c, curator);
        ownership a = co_await my_lock.acquire();
        ownership b = co_await my_shared.acquire_read();
        ownership c1 = co_await my_election.campaign();
        ownership d = co_await my_permits.acquire(2);
        ownership f = co_await my_kazoo.acquire();
        ownership g = co_await their_curator.acquire();
        pending_result<ownership> waits[5];
        their_lock.acquire(waits[0].handler());
        their_shared.acquire_write(waits[1].handler());
        their_election.campaign(waits[2].handler());
        their_permits.acquire(1, waits[3].handler());
        their_kazoo.acquire(waits[4].handler());
        for (const std::string& line : {l, s, e, p, k})
            co_await stands(line, 2);
        wait_graph graph = co_await find_deadlocks(zk, paths);
        CHECK(graph.edges.size() == 5);
        CHECK(graph.deadlocks.empty());
        for (const wait_edge& edge : graph.edges) {
            CHECK(edge.waiter.session_id == other.session_id());
            CHECK(edge.blocker.session_id == zk.session_id());
            CHECK(std::count(paths.begin(), paths.end(), edge.path) == 1);
        }
        pending_result<ownership> circle;
        my_curator.acquire(circle.handler());
        co_await stands(c, 2);
        graph = co_await find_deadlocks(zk, paths);
        CHECK(graph.edges.size() == 6);
        REQUIRE(graph.deadlocks.size() == 1);
        REQUIRE(graph.deadlocks[0].size() == 2);
        // The way out: one of them is broken deliberately.
        auto ours = std::find_if(
            graph.deadlocks[0].begin(), graph.deadlocks[0].end(), [&](const wait_edge& edge) {
                return edge.waiter.session_id == zk.session_id();
            });
        REQUIRE(ours != graph.deadlocks[0].end());
        CHECK(ours->path == c);
        co_await my_curator.break_contender(ours->waiter.path);
        graph = co_await find_deadlocks(zk, paths);
        CHECK(graph.deadlocks.empty());
        for (ownership* held : {&a, &b, &c1, &d, &f})
            *held = ownership();
        for (auto& w : waits)
            CHECK(!co_await finished(w));
        g = ownership();
        co_await other.close();
    });
}

TEST_CASE("deadlocks: multi-locks have none, locks one by one may") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        std::vector<std::string> paths{path + "/a", path + "/b"};
        lock a(zk, paths[0]), b(zk, paths[1]);
        lock their_a(other, paths[0]), their_b(other, paths[1]);
        multi_lock mine(zk), theirs(other);
        mine.add(a).add(b);
        theirs.add(their_b).add(their_a);
        multi_ownership held = co_await mine.acquire();
        pending_result<multi_ownership> next;
        theirs.acquire(next.handler());
        co_await stands(paths[0], 2);
        wait_graph graph = co_await find_deadlocks(zk, paths);
        CHECK(graph.edges.size() == 1);
        CHECK(graph.deadlocks.empty());
        co_await held.release();
        CHECK(!co_await finished(next));
        co_await next.value().release();

        ownership first = co_await a.acquire();
        ownership second = co_await their_b.acquire();
        pending_result<ownership> x, y;
        b.acquire(x.handler());
        their_a.acquire(y.handler());
        co_await stands(paths[0], 2);
        co_await stands(paths[1], 2);
        graph = co_await find_deadlocks(other, paths);
        REQUIRE(graph.deadlocks.size() == 1);
        x.cancel();
        co_await stands(paths[1], 1);
        graph = co_await find_deadlocks(other, paths);
        CHECK(graph.deadlocks.empty());
        first = ownership();
        CHECK(!co_await finished(y));
        co_await other.close();
    });
}

TEST_CASE("deadlocks: bad paths, a closed client, cancellation") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        auto ask = [&](std::vector<std::string> paths) -> awaitable<error_code> {
            auto [ec, graph] = co_await find_deadlocks(zk, std::move(paths), as_tuple());
            co_return ec;
        };
        std::vector<std::string> none, one(1, path), bad(1, path), root(1, "/");
        bad.push_back("relative");
        CHECK(co_await ask(none) == error_code());
        CHECK(co_await ask(one) == error_code());
        CHECK(co_await ask(bad) == errc::bad_path);
        CHECK(co_await ask(root) == errc::bad_path);
        // Data that is no limit: not a semaphore, and no reason to fail.
        observer().plant(path, "something else");
        CHECK(co_await ask(one) == error_code());
        pending_result<wait_graph> cancelled;
        find_deadlocks(zk, one, cancelled.handler());
        cancelled.cancel();
        CHECK(co_await finished(cancelled) == boost::asio::error::operation_aborted);
        CHECK(cancelled.calls() == 1);
        co_await zk.close();
        CHECK(co_await ask(one) == errc::closed);
    });
}

TEST_CASE("deadlocks: an upgrade waits for the other readers") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        const std::string s = path + "/shared", l = path + "/lock";
        const std::vector<std::string> paths{s, l};
        shared_lock mine(zk, s), theirs(other, s);
        lock my_lock(zk, l), their_lock(other, l);
        ownership read = co_await theirs.acquire_read();
        ownership mine_to_write = co_await mine.acquire_read();
        ownership held = co_await my_lock.acquire();
        pending_result<> upgraded;
        mine.upgrade(mine_to_write, upgraded.handler());
        co_await stands(s, 3);
        wait_graph graph = co_await find_deadlocks(zk, paths);
        CHECK(graph.deadlocks.empty());
        pending_result<ownership> waiting;
        their_lock.acquire(waiting.handler());
        co_await stands(l, 2);
        graph = co_await find_deadlocks(zk, paths);
        REQUIRE(graph.deadlocks.size() == 1);
        CHECK(graph.deadlocks[0].size() == 2);
        co_await read.release();
        CHECK(!co_await finished(upgraded));
        graph = co_await find_deadlocks(zk, paths);
        CHECK(graph.deadlocks.empty());
        co_await held.release();
        CHECK(!co_await finished(waiting));
        co_await other.close();
    });
}

}  // namespace corozk::testing::deadlocks_test
