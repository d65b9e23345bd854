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
