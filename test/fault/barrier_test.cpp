// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/barrier.hpp>

namespace corozk::testing::barrier_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

TEST_CASE("barrier: a removal whose answer was lost spares the next barrier") {
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connect_to(proxy.hosts());
        std::string node = fresh_path();
        observer().plant(node);
        barrier b(zk, node);
        proxy.arm(at_op(op_code::erase), swallow_reply_and_cut().then_refuse());
        pending_result<bool> removing;
        b.remove(removing.handler());
        co_await eventually_async(
            [&] { return proxy.statistics().replies_of(op_code::erase) > 0; });
        co_await eventually_async([&] { return !observer().exists(node); });
        observer().plant(node, "the next");
        proxy.set_acceptance(acceptance::normal);
        CHECK(!co_await finished(removing));
        CHECK(removing.value());
        CHECK(observer().data(node) == "the next");
        observer().erase(node);
        co_await zk.close(as_tuple());
    });
    run_to_idle(context);
}

TEST_CASE("barrier: bound to a session that the server ends later than the client") {
    server own(recipe_server_options());
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        fault_proxy proxy(own.port());
        client zk = co_await connect_to(proxy.hosts());
        const std::int64_t earlier = zk.session_id();
        barrier_options options;
        options.bound_to_session = true;
        barrier b(zk, "/gate", options);
        proxy.arm(at_op(op_code::create2), swallow_reply_and_cut().then_refuse());
        pending_result<bool> setting;
        b.set(setting.handler());
        co_await eventually_async(
            [&] { return proxy.statistics().replies_of(op_code::create2) > 0; });
        own.kill();
        co_await eventually_async([&] { return zk.state() == session_state::lost; });
        own.restart();  // which gives earlier sessions their whole timeout again
        proxy.set_acceptance(acceptance::normal);
        CHECK(!co_await finished(setting));
        CHECK(setting.value());
        CHECK(zk.session_id() != earlier);
        auto node = admin(own.port()).stat("/gate");
        REQUIRE(node);
        CHECK(node->ephemeral_owner == zk.session_id());
        co_await zk.close(as_tuple());
    });
    run_to_idle(context);
}

TEST_CASE("barrier: removed while the server was down") {
    server own(recipe_server_options());
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        fault_proxy proxy(own.port());
        client zk = co_await connect_to(proxy.hosts());
        barrier b(zk, "/gate");
        co_await b.set();
        pending_result<> waits;
        b.wait(waits.handler());
        co_await settle(zk);
        proxy.set_acceptance(acceptance::close_at_once);
        proxy.cut();
        own.kill();
        own.restart();
        admin(own.port()).erase("/gate");
        proxy.set_acceptance(acceptance::normal);
        CHECK(!co_await finished(waits));
        co_await zk.close(as_tuple());
    });
    run_to_idle(context);
}

TEST_CASE("barrier: a deadline holds without a connection, too") {
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connect_to(proxy.hosts());
        std::string node = fresh_path();
        observer().plant(node);
        barrier b(zk, node);
        proxy.set_acceptance(acceptance::close_at_once);
        proxy.cut();
        auto started = std::chrono::steady_clock::now();
        auto [ec] = co_await b.wait_for(30ms, as_tuple());
        CHECK(ec == errc::deadline_exceeded);
        CHECK(std::chrono::steady_clock::now() - started < 2s);
        proxy.set_acceptance(acceptance::normal);
        observer().erase(node);
        co_await zk.close(as_tuple());
    });
    run_to_idle(context);
}

}  // namespace corozk::testing::barrier_test
