// SPDX-License-Identifier: Apache-2.0
// Adapters around the default token, and what Asio has for completion tokens since Boost 1.82.
#include "client_fixture.hpp"
#include <corozk/client.hpp>
#include <corozk/recipe/leader_latch.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/multi_lock.hpp>
#include <corozk/recipe/queue.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/strand.hpp>
#include <boost/version.hpp>
#if BOOST_VERSION >= 108200
#include <boost/asio/bind_immediate_executor.hpp>
#endif
#if BOOST_VERSION >= 108600
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancel_at.hpp>
#endif

#include <catch2/catch.hpp>

#include <memory>
#include <thread>

namespace corozk::testing::client_tests::token_adapters_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;

TEST_CASE("adapter: around the default token, the error says what failed") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        boost::asio::cancellation_signal unused;
        auto slot = boost::asio::bind_cancellation_slot(unused.slot(), default_token());
        node_data read = co_await zk.get(path, slot);
        CHECK(read.data.empty());
        auto memory = boost::asio::bind_allocator(std::allocator<void>(), default_token());
        co_await zk.set(path, "x", any_version, memory);
        try {
            co_await zk.get(path + "/none", slot);
            FAIL("no error");
        } catch (const error& e) {
            CHECK(e.code() == zk_errc::no_node);
        }
        auto strand = boost::asio::make_strand(zk.get_executor());
        read = co_await zk.get(path, boost::asio::bind_executor(strand, default_token()));
        CHECK(read.data == "x");
    });
}

TEST_CASE("adapter: a slot around the default token cancels") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        boost::asio::cancellation_signal cancel;
        queue q(zk, path + "/q");
        boost::asio::post(zk.get_executor(),
                          [&cancel] { cancel.emit(boost::asio::cancellation_type::terminal); });
        bool cancelled = false;
        try {
            co_await q.take(boost::asio::bind_cancellation_slot(cancel.slot(), default_token()));
        } catch (const error& e) {
            cancelled = e.code() == boost::asio::error::operation_aborted;
        }
        CHECK(cancelled);
    });
}

TEST_CASE("adapter: objects have the executor of their client") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        lock l(zk, path + "/lock");
        CHECK(l.get_executor() == zk.get_executor());
        ownership held = co_await l.acquire();
        CHECK(held.get_executor() == zk.get_executor());
        queue q(zk, path + "/q");
        CHECK(q.get_executor() == zk.get_executor());
        lock moved = std::move(l);
        CHECK(moved.get_executor() == zk.get_executor());
        CHECK(ownership().get_executor() == client().get_executor());
        multi_lock all(zk);
        all.add(lock(zk, path + "/other"));
        multi_ownership several = co_await all.acquire();
        CHECK(several.get_executor() == zk.get_executor());
        co_await several.release();
        co_await held.release();
        // Also when nothing is owned any more.
        CHECK(held.get_executor() == zk.get_executor());
        CHECK(several.get_executor() == zk.get_executor());
        ownership last = std::move(held);
        CHECK(last.get_executor() == zk.get_executor());
        CHECK(held.get_executor() == client().get_executor());
    });
}

TEST_CASE("adapter: without an executor a handler runs on the client's, whatever is owned") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        leader_latch follower(zk, path + "/latch");  // does not lead
        lock l(zk, path + "/lock");
        ownership held = co_await l.acquire();
        multi_lock all(zk);
        all.add(lock(zk, path + "/other"));
        multi_ownership several = co_await all.acquire();
        co_await held.release();
        co_await several.release();

        const auto here = std::this_thread::get_id();
        std::atomic<int> pending{0};
        std::atomic<int> elsewhere{0};
        std::atomic<int> others{0};
        auto token = [&](error_code ec, auto&&...) {
            if (ec != errc::ownership_lost)
                ++others;
            if (std::this_thread::get_id() != here)
                ++elsewhere;
            --pending;
        };
        pending = 10;
        follower.commit(transaction(), token);
        follower.read(path, token);
        follower.wait_release_requested(token);
        held.wait_lost(token);
        held.wait_release_requested(token);
        held.release(token);
        held.read(path, token);
        several.wait_lost(token);
        several.release(token);
        several.commit(transaction(), token);
        co_await eventually_async([&] { return pending == 0; });
        CHECK(elsewhere == 0);
        CHECK(others == 0);
        // In the second release, too, it has remembered.
        CHECK(held.get_executor() == zk.get_executor());
        CHECK(several.get_executor() == zk.get_executor());
    });
}

#if BOOST_VERSION >= 108200

TEST_CASE("adapter: what is known at once completes on the immediate executor") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        boost::asio::system_executor inline_executor;
        bool called = false;
        // A strand that nobody runs would not be reached by anything but the immediate executor.
        zk.get("no path",
               boost::asio::bind_immediate_executor(inline_executor, [&](error_code ec, node_data) {
                   CHECK(ec == errc::bad_path);
                   called = true;
               }));
        CHECK(called);
        ownership none;
        called = false;
        none.wait_lost(
            boost::asio::bind_immediate_executor(inline_executor, [&](error_code ec, error_code) {
                CHECK(ec == errc::ownership_lost);
                called = true;
            }));
        CHECK(called);
        // What has to be asked for does not.
        called = false;
        bool inside = true;
        zk.get(path,
               boost::asio::bind_immediate_executor(inline_executor, [&](error_code ec, node_data) {
                   CHECK_FALSE(ec);
                   CHECK_FALSE(inside);
                   called = true;
               }));
        inside = false;
        co_await eventually_async([&] { return called; });
    });
}

TEST_CASE("adapter: an object may be destroyed by what completes at once") {
    with_client([](client& zk, std::string) -> awaitable<void> {
        boost::asio::system_executor inline_executor;
        auto q = std::make_unique<queue>(zk, "no path");
        int called = 0;
        q->take(
            boost::asio::bind_immediate_executor(inline_executor, [&](error_code ec, queue_item) {
                CHECK(ec == errc::bad_path);
                ++called;
                q.reset();
            }));
        co_await eventually_async([&] { return called == 1; });
        CHECK_FALSE(q);
    });
}

#endif

#if BOOST_VERSION >= 108600

TEST_CASE("adapter: cancel_after gives up, and leaves nothing behind") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        lock l(zk, path + "/lock");
        ownership held = co_await l.acquire();
        error_code result;
        try {
            co_await l.acquire(boost::asio::cancel_after(10ms, default_token()));
            FAIL("acquired twice");
        } catch (const error& e) {
            result = e.code();
            CHECK(e.operation() == "lock.acquire");
        }
        CHECK(result == boost::asio::error::operation_aborted);
        // As the only token, and with an absolute time.
        result = error_code();
        try {
            co_await l.acquire(boost::asio::cancel_after(10ms));
        } catch (const boost::system::system_error& e) {
            result = e.code();
        }
        CHECK(result == boost::asio::error::operation_aborted);
        auto deadline = std::chrono::steady_clock::now() + 10ms;
        auto [ec, none] =
            co_await l.acquire(boost::asio::cancel_at(deadline, boost::asio::as_tuple));
        CHECK(ec == boost::asio::error::operation_aborted);
        CHECK_FALSE(none.valid());
        // The last one's node may still be on its way.
        for (int i = 0; i < 4; ++i)
            co_await zk.sync();
        co_await eventually_async(
            [&] { return observer().children(at_server(path + "/lock")).size() == 1; });
        node_children nodes = co_await zk.get_children(path + "/lock");
        CHECK(nodes.names.size() == 1);
        co_await held.release();
        // In time it does nothing.
        held = co_await l.acquire(boost::asio::cancel_after(1h, default_token()));
        CHECK(held.valid());
        co_await held.release();
    });
}

#endif

}  // namespace corozk::testing::client_tests::token_adapters_test
