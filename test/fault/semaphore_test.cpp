// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/semaphore.hpp>

namespace corozk::testing::semaphore_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

/// No permit is lost: all of them can be taken.
awaitable<void> all_are_free(const std::string& path, std::int32_t limit) {
    co_await eventually_async([&] { return observer().children(path).empty(); });
    client other = co_await one_more_client();
    semaphore next(other, path, limit);
    ownership all = co_await next.acquire_for(limit, 15s);
    co_await all.release();
    co_await other.close();
    co_await eventually_async([&] { return observer().children(path).empty(); });
    co_await eventually_async([&] { return watches_below(path) == 0; });
}

}  // namespace

TEST_CASE("semaphore: a whole life with a cut at every frame") {
    cut_at_every_frame([](fault_run& r) -> awaitable<void> {
        semaphore s(r.zk, r.path, 3);
        ownership two = co_await s.acquire(2);
        pending_result<ownership> three;
        s.acquire(3, three.handler());
        ownership other_one;
        co_await settle(r.zk);
        CHECK(!three.done());
        co_await s.set_limit(5);
        CHECK(!co_await finished(three));
        CHECK(observer().data(r.path) == "5");
        CHECK(observer().children(r.path).size() == 2);
        co_await two.release();
        co_await three.value().release();
        co_await all_are_free(r.path, 5);
    });
}

TEST_CASE("semaphore: behind others, with a cut at every frame") {
    cut_at_every_frame([](fault_run& r) -> awaitable<void> {
        client other = co_await one_more_client();
        semaphore theirs(other, r.path, 3);
        ownership a = co_await theirs.acquire(1);
        ownership b = co_await theirs.acquire(2);
        semaphore mine(r.zk, r.path, 3);
        pending_result<ownership> c, d;
        mine.acquire(2, c.handler());
        co_await eventually_async([&] { return observer().children(r.path).size() == 3; });
        co_await settle(r.zk);  // a create whose answer was lost is known by now
        mine.acquire(1, d.handler());
        co_await settle(r.zk);
        CHECK((!c.done() && !d.done()));
        co_await b.release();
        CHECK(!co_await finished(c));
        co_await settle(r.zk);
        CHECK(!d.done());
        co_await a.release();
        CHECK(!co_await finished(d));
        co_await c.value().release();
        co_await d.value().release();
        co_await other.close();
        co_await all_are_free(r.path, 3);
    });
}

TEST_CASE("semaphore: the session lost at every frame") {
    expire_at_every_frame([](fault_run& r) -> awaitable<void> {
        semaphore s(r.zk, r.path, 2);
        pending_result<ownership> a, b;
        s.acquire(2, a.handler());
        s.acquire(1, b.handler());
        error_code ec = co_await finished(a);
        CHECK((!ec || is_session_lost(ec) || ec == errc::ownership_lost));
        a.value() = ownership();
        ec = co_await finished(b);
        CHECK((!ec || is_session_lost(ec) || ec == errc::ownership_lost));
        b.value() = ownership();
        co_await all_are_free(r.path, 2);
    });
}

TEST_CASE("semaphore: cancelled at every frame, no permit is lost (curator 315, 335)") {
    cancel_at_every_frame([](fault_run& r, boost::asio::cancellation_slot slot) -> awaitable<void> {
        semaphore s(r.zk, r.path, 2);
        auto token = boost::asio::bind_cancellation_slot(slot, as_tuple());
        auto [ec, held] = co_await s.acquire(2, token);
        CHECK((!ec || ec == boost::asio::error::operation_aborted));
        held = ownership();
        co_await all_are_free(r.path, 2);
    });
}

TEST_CASE("semaphore: the folder is erased, and with it the limit") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        semaphore s(zk, path, 2);
        ownership a = co_await s.acquire(2);
        pending_result<ownership> b;
        s.acquire(1, b.handler());
        co_await settle(zk);
        observer().erase_recursively(path);
        CHECK(co_await finished(b) == errc::ownership_lost);
        co_await eventually_async([&] { return !a.valid(); });
        ownership c = co_await s.acquire(2);
        CHECK(observer().data(path) == "2");
        co_await c.release();
        // Strange data while somebody waits.
        ownership d = co_await s.acquire(2);
        pending_result<ownership> e;
        s.acquire(1, e.handler());
        co_await settle(zk);
        observer().set(path, "many");
        CHECK(co_await finished(e) == errc::foreign_data);
        CHECK(d.valid());
        observer().set(path, "2");
        co_await d.release();
        co_await all_are_free(path, 2);
    });
}

}  // namespace corozk::testing::semaphore_test
