// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/semaphore.hpp>

#include <deque>

namespace corozk::testing::semaphore_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

awaitable<void> gone(const std::string& path) {
    co_await eventually_async([&] { return observer().children(path).empty(); });
}

}  // namespace

TEST_CASE("semaphore: weighted permits in order, over two sessions") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        semaphore mine(zk, path, 4);
        semaphore theirs(other, path, 4);
        ownership two = co_await mine.acquire(2);
        CHECK(observer().data(path) == "4");
        CHECK(observer().children(path).size() == 1);  // one node for both
        CHECK(co_await theirs.count_available() == 2);
        ownership one = co_await theirs.acquire();
        pending_result<ownership> three;
        theirs.acquire(3, three.handler());
        co_await eventually_async([&] { return observer().children(path).size() == 3; });
        // It would fit, but is behind the three.
        pending_result<ownership> small;
        mine.acquire(1, small.handler());
        co_await settle(zk);
        co_await settle(other);
        CHECK(!three.done());
        CHECK(!small.done());
        CHECK(co_await mine.count_available() == 0);
        auto holders = co_await mine.list_holders();
        REQUIRE(holders.size() == 2);
        CHECK(holders[0].weight == 2);
        auto line = co_await mine.list_contenders();
        REQUIRE(line.size() == 4);
        CHECK(line[2].weight == 3);
        CHECK(line[2].waits_for.size() == 1 + (line[1].weight == 1 ? 1u : 0u));

        co_await two.release();
        CHECK(!co_await finished(three));  // 1 + 3
        co_await settle(zk);
        CHECK(!small.done());
        co_await one.release();
        CHECK(!co_await finished(small));
        co_await three.value().release();
        co_await small.value().release();
        co_await gone(path);
        co_await other.close();
    });
}

TEST_CASE("semaphore: the try form, deadlines, too much") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        semaphore s(zk, path, 3);
        pending_result<ownership> a, b;
        s.try_acquire(1, a.handler());
        s.try_acquire(2, b.handler());
        CHECK(!co_await finished(a));
        CHECK(!co_await finished(b));
        auto [full, none] = co_await s.try_acquire(1, as_tuple());
        CHECK(full == errc::would_block);
        auto [late, nothing] = co_await s.acquire_for(1, 30ms, as_tuple());
        CHECK(late == errc::deadline_exceeded);
        auto [too_many, nil] = co_await s.acquire(4, as_tuple());
        CHECK(too_many == errc::bad_option);
        auto [too_few, null] = co_await s.acquire(0, as_tuple());
        CHECK(too_few == errc::bad_option);
        co_await a.value().release();
        co_await b.value().release();
        co_await gone(path);
        semaphore unlimited(zk, path, 0);
        auto [no_limit, void_] = co_await unlimited.acquire(1, as_tuple());
        CHECK(no_limit == errc::bad_option);
    });
}

TEST_CASE("semaphore: too much is refused at once, although others wait") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        semaphore mine(zk, path, 2);
        semaphore theirs(other, path, 2);
        ownership both = co_await theirs.acquire(2);
        pending_result<ownership> waiting;
        mine.acquire(1, waiting.handler());
        co_await eventually_async([&] { return observer().children(path).size() == 2; });
        co_await settle(zk);
        auto [too_many, none] = co_await mine.acquire_for(5, 10s, as_tuple());
        CHECK(too_many == errc::bad_option);
        auto [never, nothing] = co_await mine.try_acquire(5, as_tuple());
        CHECK(never == errc::bad_option);
        CHECK_FALSE(waiting.done());
        co_await both.release();
        CHECK(!co_await finished(waiting));
        co_await waiting.value().release();
        co_await gone(path);
        co_await other.close();
    });
}

TEST_CASE("semaphore: another limit is a mismatch, and so is other data") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        semaphore two(zk, path, 2);
        semaphore three(zk, path, 3);
        ownership held = co_await two.acquire();
        auto [ec, none] = co_await three.acquire(1, as_tuple());
        CHECK(ec == errc::limit_mismatch);
        CHECK(observer().children(path).size() == 1);
        co_await held.release();

        observer().plant(path + "-other", "something");
        semaphore strange(zk, path + "-other", 2);
        auto [strange_ec, nothing] = co_await strange.acquire(1, as_tuple());
        CHECK(strange_ec == errc::foreign_data);
        CHECK(observer().data(path + "-other") == "something");
        auto [set_ec] = co_await strange.set_limit(5, as_tuple());
        CHECK(set_ec == errc::foreign_data);
    });
}

TEST_CASE("semaphore: the limit changes while it is in use (curator 75)") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        semaphore mine(zk, path, 2);
        semaphore theirs(other, path, 2);
        ownership a = co_await mine.acquire();
        ownership b = co_await theirs.acquire();
        pending_result<ownership> c, d;
        mine.acquire(1, c.handler());
        theirs.acquire(1, d.handler());
        co_await settle(zk);
        co_await settle(other);
        CHECK((!c.done() && !d.done()));
        co_await mine.set_limit(4);
        CHECK(!co_await finished(c));
        CHECK(!co_await finished(d));
        // Fewer: nobody loses anything, nobody gets anything.
        co_await theirs.set_limit(1);
        CHECK((a.valid() && b.valid() && c.value().valid() && d.value().valid()));
        pending_result<ownership> e;
        mine.acquire(1, e.handler());
        co_await a.release();
        co_await b.release();
        co_await c.value().release();
        co_await settle(zk);
        CHECK(!e.done());
        co_await d.value().release();
        CHECK(!co_await finished(e));
        // Who asks for too much does not stand in the way for ever.
        co_await mine.set_limit(3);
        pending_result<ownership> three, one;
        mine.acquire(3, three.handler());
        co_await eventually_async([&] { return observer().children(path).size() == 2; });
        theirs.acquire(1, one.handler());
        co_await eventually_async([&] { return observer().children(path).size() == 3; });
        CHECK(!three.done());
        co_await theirs.set_limit(2);
        CHECK(co_await finished(three) == errc::bad_option);
        CHECK(!co_await finished(one));
        co_await one.value().release();
        co_await e.value().release();
        co_await gone(path);
        co_await eventually_async([&] { return watches_below(path) == 0; });
        co_await other.close();
    });
}

TEST_CASE("semaphore: the limit is not deleted with an unused container") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        auto nothing = [](const frame_info&) {};
        const rule_id container =
            proxy.arm(at_op(testing::op_code::create_container), call_at_request(nothing));
        semaphore permits(zk, path + "/permits", 2);
        ownership one = co_await permits.acquire();
        CHECK(proxy.fired(container) == 0);
        lock other(zk, path + "/lock");
        ownership held = co_await other.acquire();
        CHECK(proxy.fired(container) == 1);
    });
}

TEST_CASE("semaphore: who releases passes nothing on by a limit that has changed") {
    // It has heard of the change, or has not.
    for (bool has_heard : {true, false}) {
        with_proxy([&](client& one, fault_proxy& proxy, std::string path) -> awaitable<void> {
            client two = co_await one_more_client();
            client three = co_await one_more_client();
            semaphore first(two, path, 2), between(one, path, 2), last(three, path, 2);
            ownership leaving = co_await first.acquire();
            ownership staying = co_await first.acquire();
            pending_result<ownership> next, waiting;
            between.acquire(1, next.handler());
            co_await settle(one);
            last.acquire(1, waiting.handler());
            co_await settle(three);
            std::uint64_t listings = one.counters().listings;
            co_await leaving.release();
            CHECK(!co_await finished(next));
            // Who has waited looks behind itself a moment later.
            co_await eventually_async([&] { return one.counters().listings > listings; });
            co_await settle(one);

            rule_id held{};
            if (!has_heard) {
                held = proxy.arm(at_notification(), hold_reply());
            }
            co_await first.set_limit(1);
            co_await settle(three);
            if (has_heard)
                co_await settle(one);
            pending_result<> released;
            next.value().release(released.handler());
            co_await eventually_async([&] { return observer().children(path).size() == 2; });
            co_await settle(three);
            CHECK(!waiting.done());
            if (!has_heard)
                proxy.release(held);
            CHECK(!co_await finished(released));
            co_await staying.release();
            CHECK(!co_await finished(waiting));
            co_await waiting.value().release();
            co_await gone(path);
            co_await two.close();
            co_await three.close();
        });
    }
}

TEST_CASE("semaphore: a turn that is announced together with a higher limit") {
    with_proxy([](client& one, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client two = co_await one_more_client();
        client three = co_await one_more_client();
        semaphore first(two, path, 2), between(three, path, 2), last(one, path, 2);
        ownership staying = co_await first.acquire(2);
        pending_result<ownership> next, waiting, behind;
        between.acquire(1, next.handler());
        co_await settle(three);
        last.acquire(1, waiting.handler());
        last.acquire(1, behind.handler());
        co_await settle(one);

        rule_id held = proxy.arm(at_notification(), hold_reply());
        std::uint64_t listings = three.counters().listings;
        co_await first.set_limit(3);
        CHECK(!co_await finished(next));
        co_await eventually_async([&] { return three.counters().listings > listings; });
        co_await settle(three);
        co_await next.value().release();
        proxy.release(held);
        CHECK(!co_await finished(waiting));
        co_await settle(one);
        CHECK(!behind.done());
        co_await staying.release();
        CHECK(!co_await finished(behind));
        co_await waiting.value().release();
        co_await behind.value().release();
        co_await gone(path);
        co_await two.close();
        co_await three.close();
    });
}

TEST_CASE("semaphore: many local contenders, never more than the limit, all served") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        semaphore mine(zk, path, 5);
        semaphore theirs(other, path, 5);
        int held = 0;
        int most = 0;
        int served = 0;
        int over = 0;
        auto body = [&](int permits) {
            return [&held, &most, &served, permits](ownership&) -> awaitable<void> {
                held += permits;
                most = std::max(most, held);
                boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor, 1ms);
                co_await pause.async_wait(boost::asio::use_awaitable);
                held -= permits;
                ++served;
            };
        };
        auto executor = co_await boost::asio::this_coro::executor;
        for (int i = 0; i < 120; ++i) {
            int permits = i % 3 + 1;
            boost::asio::co_spawn(executor,
                                  (i % 2 ? mine : theirs).run(permits, body(permits)),
                                  [&over](std::exception_ptr failure) {
                                      ++over;
                                      if (failure)
                                          CHECK_NOTHROW(std::rethrow_exception(failure));
                                  });
        }
        // A permit has been given back when its `run` is over, not when its node is gone.
        co_await eventually_async([&] { return over == 120; }, 25s);
        CHECK(served == 120);
        CHECK(most <= 5);
        CHECK(most >= 3);
        co_await gone(path);
        co_await other.close();
    });
}

TEST_CASE("semaphore: a release hands over to several, but to nobody whose node is gone") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        semaphore s(zk, path, 2);
        ownership first = co_await s.acquire();
        ownership second = co_await s.acquire();
        std::deque<pending_result<ownership>> waiting(3);
        for (auto& one : waiting)
            s.acquire(1, one.handler());
        co_await eventually_async([&] { return observer().children(path).size() == 5; });
        const auto queue = co_await s.list_contenders();
        REQUIRE(queue.size() == 5);
        // Both releases are sent before anything can be heard of it.
        observer().erase(queue[3].path);
        pending_result<> released, also_released;
        first.release(released.handler());
        second.release(also_released.handler());
        CHECK(!co_await finished(released));
        CHECK(!co_await finished(also_released));
        CHECK(!co_await finished(waiting[0]));
        CHECK(co_await finished(waiting[1]) == errc::ownership_lost);
        CHECK(!co_await finished(waiting[2]));
        co_await waiting[0].value().release();
        co_await waiting[2].value().release();
        co_await gone(path);
    });
}

}  // namespace corozk::testing::semaphore_test
