// SPDX-License-Identifier: Apache-2.0
#include "lagging_server.hpp"
#include "pending_result.hpp"
#include <corozk/recipe/double_barrier.hpp>

#include <utility>

namespace corozk::testing::double_barrier_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

bool empty(const std::string& path) {
    return observer().children(path).empty();
}

/// Until the proxy accepts again.
awaitable<void> cut_off(client& zk, fault_proxy& proxy) {
    proxy.set_acceptance(acceptance::not_listening);
    proxy.cut();
    co_await eventually_async([&] { return zk.state() == session_state::suspended; });
}

/// Of two members.
awaitable<void> leave_together(double_barrier& a, double_barrier& b) {
    pending_result<> out;
    a.leave(out.handler());
    co_await b.leave();
    CHECK(!co_await finished(out));
}

/// A deadline passes while the connection is away since this request, whose response is lost.
awaitable<void> enter_in_vain(
    client& zk, double_barrier& a, fault_proxy& proxy, trigger when, bool applied) {
    rule_id rule = proxy.arm(
        std::move(when),
        applied ? swallow_reply_and_cut().then_refuse() : drop_request_and_cut().then_refuse());
    auto [ec] = co_await a.enter_for(5s, as_tuple());
    CHECK(ec == errc::deadline_exceeded);
    CHECK(proxy.fired(rule) == 1);
    CHECK_FALSE(a.inside());
    co_await accept_again(proxy, zk);
}

}  // namespace

TEST_CASE("double barrier: the session lost while inside and while leaving") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        double_barrier a(zk, path, 2);
        double_barrier b(other, path, 2);
        for (bool leaving : {false, true}) {
            INFO("leaving: " << leaving);
            pending_result<> a_in, b_in, a_out, b_out;
            a.enter(a_in.handler());
            b.enter(b_in.handler());
            CHECK(!co_await finished(a_in));
            CHECK(!co_await finished(b_in));
            if (leaving) {
                a.leave(a_out.handler());
                co_await settle(zk);
                CHECK_FALSE(a_out.done());
            }
            auto generation = zk.generation();
            expire(proxy.session());
            co_await eventually_async([&] {
                return zk.generation() > generation && zk.state() == session_state::connected;
            });
            if (!leaving)
                a.leave(a_out.handler());
            // While leaving its node may be gone already: then it waits for the others as before.
            if (leaving)
                b.leave(b_out.handler());
            error_code ec = co_await finished(a_out);
            CHECK((ec == zk_errc::session_expired || (leaving && !ec)));
            CHECK_FALSE(a.inside());
            if (!leaving)
                b.leave(b_out.handler());
            CHECK(!co_await finished(b_out));
            CHECK(empty(path));
        }
        co_await other.close();
    });
}

TEST_CASE("double barrier: a member that enters again does not count twice") {
    // The server ends the earlier session, and its node, later than the client.
    for (compatibility format : {compatibility::native, compatibility::curator}) {
        CAPTURE(static_cast<int>(format));
        server own(recipe_server_options());
        boost::asio::io_context context;
        run(
            context,
            [&]() -> awaitable<void> {
                fault_proxy proxy(own.port());
                client zk = co_await connect_to(proxy.hosts());
                double_barrier_options options;
                options.compatibility = format;
                double_barrier a(zk, "/b", 2, options);
                pending_result<> first;
                a.enter(first.handler());
                co_await eventually_async(
                    [&] { return admin(own.port()).children("/b").size() == 1; });
                co_await cut_off(zk, proxy);
                first.cancel();
                CHECK(co_await finished(first) == boost::asio::error::operation_aborted);
                pending_result<> again;
                a.enter(again.handler());
                own.kill();
                co_await eventually_async([&] { return zk.state() == session_state::lost; });
                own.restart();  // which gives earlier sessions their whole timeout again
                proxy.set_acceptance(acceptance::normal);
                co_await eventually_async([&] { return zk.state() == session_state::connected; });
                co_await settle(zk);
                CHECK_FALSE(again.done());
                // Once the earlier session has ended, it is one member, and a second one is let in with it.
                co_await eventually_async([&] {
                    auto now = ephemerals(own.port());
                    return now.size() == 1 && now.begin()->second == zk.session_id();
                });
                CHECK_FALSE(again.done());
                client other = co_await connect_to(own.hosts());
                double_barrier b(other, "/b", 2, options);
                co_await b.enter();
                CHECK(!co_await finished(again));
                co_await leave_together(a, b);
                co_await zk.close(as_tuple());
                co_await other.close();
            },
            90s);
        run_to_idle(context);
    }
}

TEST_CASE("double barrier: a member whose leave was cancelled may enter at once") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        double_barrier a(zk, path, 2);
        double_barrier b(other, path, 2);
        pending_result<> a_in;
        a.enter(a_in.handler());
        co_await b.enter();
        CHECK(!co_await finished(a_in));
        co_await cut_off(zk, proxy);
        pending_result<> out;
        a.leave(out.handler());
        out.cancel();
        CHECK(co_await finished(out) == boost::asio::error::operation_aborted);
        pending_result<> again, b_out;
        a.enter(again.handler());
        b.leave(b_out.handler());
        proxy.set_acceptance(acceptance::normal);
        CHECK(!co_await finished(b_out));
        CHECK_FALSE(again.done());
        co_await b.enter();
        CHECK(!co_await finished(again));
        co_await leave_together(a, b);
        co_await other.close();
    });
}

TEST_CASE(
    "double barrier: who goes on leaving in a session whose server lags behind waits for the "
    "others") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        double_barrier a(zk, path, 2);
        double_barrier b(other, path, 2);
        pending_result<> b_in, a_out, b_out;
        b.enter(b_in.handler());
        co_await eventually_async([&] { return observer().children(path).size() == 1; });
        co_await a.enter();
        CHECK(!co_await finished(b_in));
        // Its node, which is not the first, is deleted; then it waits for the other member.
        a.leave(a_out.handler());
        co_await eventually_async([&] { return observer().children(path).size() == 1; });
        co_await settle(zk);
        co_await next_session_lags(zk, proxy, path);
        co_await settle(zk);
        CHECK_FALSE(a_out.done());
        b.leave(b_out.handler());
        CHECK(!co_await finished(b_out));
        CHECK(!co_await finished(a_out));
        co_await other.close();
    });
}

TEST_CASE("double barrier: a folder made anew while a member that leaves hears nothing") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        double_barrier a(zk, path, 2);
        double_barrier b(other, path, 2);
        pending_result<> a_in, b_in, a_out, b_out;
        a.enter(a_in.handler());
        co_await eventually_async([&] { return !empty(path); });
        b.enter(b_in.handler());
        CHECK(!co_await finished(a_in));
        CHECK(!co_await finished(b_in));
        co_await cut_off(zk, proxy);
        a.leave(a_out.handler());
        observer().erase_recursively(path);
        b.leave(b_out.handler());
        CHECK(!co_await finished(b_out));
        // Its sequence number is one that the round before had, too.
        pending_result<> b_again, a_again;
        b.enter(b_again.handler());
        co_await eventually_async([&] { return !empty(path); });
        proxy.set_acceptance(acceptance::normal);
        CHECK(!co_await finished(a_out));
        CHECK_FALSE(b_again.done());
        a.enter(a_again.handler());
        CHECK(!co_await finished(a_again));
        CHECK(!co_await finished(b_again));
        co_await other.close();
    });
}

TEST_CASE("double barrier: a round of others in a folder made anew is not that of one who waits") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        double_barrier a(zk, path, 2);
        double_barrier b(other, path, 2);
        double_barrier c(other, path, 2);
        pending_result<> a_in, b_in, c_in, b_out, c_out;
        a.enter(a_in.handler());
        co_await eventually_async([&] { return !empty(path); });
        co_await cut_off(zk, proxy);
        observer().erase_recursively(path);
        b.enter(b_in.handler());
        c.enter(c_in.handler());
        CHECK(!co_await finished(b_in));
        CHECK(!co_await finished(c_in));
        proxy.set_acceptance(acceptance::normal);
        co_await eventually_async([&] { return observer().children(path).size() == 3; });
        CHECK_FALSE(a_in.done());
        b.leave(b_out.handler());
        c.leave(c_out.handler());
        CHECK(!co_await finished(b_out));
        CHECK(!co_await finished(c_out));
        pending_result<> b_again;
        b.enter(b_again.handler());
        CHECK(!co_await finished(a_in));
        CHECK(!co_await finished(b_again));
        CHECK(a.round() == 2);
        co_await other.close();
    });
}

TEST_CASE("double barrier: a deadline with an answer lost leaves no ghost") {
    for (bool applied : {false, true}) {
        CAPTURE(applied);
        with_proxy(
            [&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
                client other = co_await one_more_client();
                double_barrier a(zk, path, 2);
                co_await zk.ensure_path(path);
                co_await enter_in_vain(zk, a, proxy, at_op(op_code::create2).under(path), applied);
                co_await eventually_async([&] { return empty(path); });
                co_await eventually_async([&] { return zk.state() == session_state::connected; });
                co_await settle(zk);
                CHECK(empty(path));
                double_barrier b(other, path, 2);
                pending_result<> b_in;
                b.enter(b_in.handler());
                co_await settle(other);
                CHECK_FALSE(b_in.done());
                co_await other.close();
            },
            run_limit,
            steady_session);
    }
}

TEST_CASE("double barrier: a deadline with a round's beginning lost leaves no ghost") {
    for (bool applied : {false, true}) {
        CAPTURE(applied);
        with_proxy(
            [&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
                fault_proxy beside(shared_server().port());
                client other = co_await connect_to(beside.hosts(), steady_session);
                double_barrier a(zk, path, 2);
                double_barrier b(other, path, 2);
                auto only_one_is_left = [&] { return observer().children(path).size() == 1; };
                co_await zk.ensure_path(path);
                pending_result<> b_in;
                b.enter(b_in.handler());
                co_await eventually_async(only_one_is_left);
                co_await settle(other);
                // It is a who begins the round: b hears of nothing.
                beside.black_hole(true);
                co_await enter_in_vain(zk, a, proxy, at_op(op_code::multi).under(path), applied);
                co_await eventually_async(only_one_is_left);
                co_await eventually_async([&] { return zk.state() == session_state::connected; });
                co_await settle(zk);
                CHECK(only_one_is_left());
                beside.black_hole(false);
                if (applied) {
                    // The round has begun; a counts as having left it.
                    CHECK(!co_await finished(b_in));
                    co_await b.leave();
                    CHECK(empty(path));
                } else {
                    co_await settle(other);
                    CHECK_FALSE(b_in.done());
                }
                co_await other.close();
            },
            run_limit,
            steady_session);
    }
}

TEST_CASE("double barrier: the slow member of a round that is being left (curator 1290)") {
    with_proxy([](client& slow, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        double_barrier a(slow, path, 3);
        double_barrier b(other, path, 3);
        double_barrier c(other, path, 3);
        pending_result<> a_in, b_in, c_in, a_out, b_out, c_out;
        // a's node is there, and a hears nothing until b and c are leaving.
        co_await slow.ensure_path(path);
        rule_id held = proxy.arm(at_op(op_code::create2).under(path), hold_reply());
        a.enter(a_in.handler());
        co_await eventually_async([&] { return !empty(path); });
        b.enter(b_in.handler());
        c.enter(c_in.handler());
        CHECK(!co_await finished(b_in));
        CHECK(!co_await finished(c_in));
        b.leave(b_out.handler());
        c.leave(c_out.handler());
        co_await settle(other);
        CHECK_FALSE(b_out.done());
        proxy.release(held);
        CHECK(!co_await finished(a_in));
        a.leave(a_out.handler());
        CHECK(!co_await finished(a_out));
        CHECK(!co_await finished(b_out));
        CHECK(!co_await finished(c_out));
        co_await other.close();
    });
}

TEST_CASE("double barrier: a member that gave up while nobody may read the folder leaves no node") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        const std::int32_t all_but_read = 0x1e;
        observer().session().set_acl(path, {{all_but_read, "world", "anyone"}});
        double_barrier a(zk, path, 2);
        pending_result<> in;
        rule_id held = proxy.arm(at_op(op_code::create2).under(path), hold_reply());
        a.enter(in.handler());
        co_await eventually_async([&] { return proxy.fired(held) == 1; });
        a = double_barrier();
        proxy.release(held);
        CHECK(co_await finished(in) == boost::asio::error::operation_aborted);
        observer().session().set_acl(path, testing::open_acl());
        co_await eventually_async([&] { return empty(path); });
    });
}

TEST_CASE("double barrier: cut again and again with one of two members nobody is let in") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        double_barrier a(zk, path, 2);
        pending_result<> a_in;
        a.enter(a_in.handler());
        co_await settle(zk);
        for (int i = 0; i < 5; ++i) {
            std::uint64_t connects = zk.counters().connects;
            proxy.cut();
            co_await eventually_async([&] { return zk.counters().connects > connects; });
            co_await settle(zk);
            CHECK_FALSE(a_in.done());
            CHECK(observer().children(path).size() == 1);
        }
        double_barrier b(other, path, 2);
        co_await b.enter();
        CHECK(!co_await finished(a_in));
        co_await zk.close(as_tuple());
        co_await other.close();
    });
}

TEST_CASE("double barrier: the server killed and restarted while waiting and while leaving") {
    server own(recipe_server_options());
    boost::asio::io_context context;
    run(
        context,
        [&]() -> awaitable<void> {
            client zk = co_await connect_to(own.hosts(), steady_session);
            client other = co_await connect_to(own.hosts(), steady_session);
            double_barrier a(zk, "/gate", 2);
            double_barrier b(other, "/gate", 2);
            pending_result<> a_in, b_in, a_out, b_out;
            a.enter(a_in.handler());
            co_await settle(zk);
            own.kill();
            b.enter(b_in.handler());
            own.restart();
            CHECK(!co_await finished(a_in));
            CHECK(!co_await finished(b_in));
            a.leave(a_out.handler());
            co_await settle(zk);
            own.kill();
            own.restart();
            b.leave(b_out.handler());
            CHECK(!co_await finished(a_out));
            CHECK(!co_await finished(b_out));
            co_await zk.close(as_tuple());
            co_await other.close();
        },
        90s);
    run_to_idle(context);
}

}  // namespace corozk::testing::double_barrier_test
