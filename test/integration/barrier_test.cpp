// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/barrier.hpp>

namespace corozk::testing::barrier_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

TEST_CASE("barrier: set, wait, remove") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::string node = path + "/deep/gate";
        barrier b(zk, node);
        bool closed = co_await b.check();
        CHECK_FALSE(closed);
        co_await b.wait();  // there is none: everybody goes, and nothing is created
        CHECK_FALSE(observer().exists(path));
        bool mine = co_await b.set();
        CHECK(mine);
        mine = co_await b.set();
        CHECK_FALSE(mine);
        closed = co_await b.check();
        CHECK(closed);
        CHECK(observer().stat(node)->ephemeral_owner == 0);

        client other = co_await one_more_client();
        barrier c(other, node);
        pending_result<> waits, waits_too;
        b.wait(waits.handler());
        c.wait(waits_too.handler());
        co_await settle(zk);
        co_await settle(other);
        CHECK_FALSE(waits.done());
        CHECK_FALSE(waits_too.done());
        CHECK(watches_below(path) == 2);
        bool removed = co_await c.remove();
        CHECK(removed);
        CHECK(!co_await finished(waits));
        CHECK(!co_await finished(waits_too));
        removed = co_await c.remove();
        CHECK_FALSE(removed);
        CHECK(watches_below(path) == 0);
        co_await other.close();
    });
}

TEST_CASE("barrier: bound to the session that has set it") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client setter = co_await one_more_client();
        barrier_options options;
        options.mode = create_mode::ephemeral;
        barrier b(setter, path + "/gate", options);
        bool mine = co_await b.set();
        CHECK(mine);
        barrier c(zk, path + "/gate");
        pending_result<> waits;
        c.wait(waits.handler());
        co_await settle(zk);
        CHECK_FALSE(waits.done());
        co_await setter.close();
        CHECK(!co_await finished(waits));
        options.mode = create_mode::container;
        barrier unusual(zk, path + "/gate", options);
        auto [ec, none] = co_await unusual.set(as_tuple());
        CHECK(ec == errc::bad_option);
    });
}

TEST_CASE("barrier: deadline, cancellation, destruction, closed client") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::string node = path + "/gate";
        auto b = std::make_unique<barrier>(zk, node);
        co_await b->set();
        auto [ec] = co_await b->wait_for(20ms, as_tuple());
        CHECK(ec == errc::deadline_exceeded);
        co_await eventually_async([&] { return watches_below(path) == 0; });

        pending_result<> waits;
        b->wait(waits.handler());
        co_await settle(zk);
        waits.cancel();
        CHECK(co_await finished(waits) == boost::asio::error::operation_aborted);
        co_await eventually_async([&] { return watches_below(path) == 0; });

        pending_result<> orphan;
        b->wait(orphan.handler());
        co_await settle(zk);
        b.reset();
        CHECK(co_await finished(orphan) == boost::asio::error::operation_aborted);
        co_await eventually_async([&] { return watches_below(path) == 0; });

        client other = co_await one_more_client();
        barrier c(other, node);
        pending_result<> closed;
        c.wait(closed.handler());
        co_await settle(other);
        co_await other.close();
        CHECK(co_await finished(closed) == errc::closed);
        std::tie(ec) = co_await c.wait(as_tuple());
        CHECK(ec == errc::closed);
        barrier empty;
        std::tie(ec) = co_await empty.wait(as_tuple());
        CHECK(ec == errc::closed);
        barrier wrong(zk, "gate");
        std::tie(ec) = co_await wrong.wait(as_tuple());
        CHECK(ec == errc::bad_path);
    });
}

}  // namespace corozk::testing::barrier_test
