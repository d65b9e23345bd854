// SPDX-License-Identifier: Apache-2.0
// Sessions that outlive their client and are continued by another one.
// ctest: CHROOT
#include "client_fixture.hpp"
#include <corozk/recipe/lock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>

#include <optional>
#include <string>
#include <vector>

namespace corozk::testing::client_tests::continued_session_test {

using namespace corozk;

namespace {

awaitable<void> create_ephemeral(client& zk, std::string path) {
    create_options ephemeral;
    ephemeral.mode = create_mode::ephemeral;
    co_await zk.create(path, "", ephemeral);
}

/// A program that creates an ephemeral node and crashes: what it knew of its session.
session_credentials crash(const std::string& path) {
    boost::asio::io_context context;
    session_credentials left;
    bool ready = false;
    auto program = [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(the_hosts()));
        CHECK(zk.credentials().id == zk.session_id());
        co_await create_ephemeral(zk, path);
        left = zk.credentials();
        ready = true;
        auto executor = co_await boost::asio::this_coro::executor;
        boost::asio::steady_timer never(executor, boost::asio::steady_timer::time_point::max());
        co_await never.async_wait(boost::asio::use_awaitable);
    };
    boost::asio::co_spawn(context, program, boost::asio::detached);
    while (!ready)
        context.run_one();
    return left;
}

client_options options_of(const session_credentials& session) {
    client_options options = quiet_options(the_hosts());
    options.session = session;
    return options;
}

std::int64_t owner_of(const std::string& path) {
    auto stat = observer().stat(at_server(path));
    return stat ? stat->ephemeral_owner : 0;
}

}  // namespace

TEST_CASE("continued session: that of a crashed program, with its ephemeral nodes") {
    with_client([](client&, std::string path) -> awaitable<void> {
        const session_credentials left = crash(path + "/e");
        CHECK(left.id != 0);
        CHECK(left.password.size() == 16);
        CHECK(owner_of(path + "/e") == left.id);
        client zk = co_await connected_client(options_of(left));
        CHECK(zk.session_id() == left.id);
        CHECK(zk.generation() == 1);
        CHECK(zk.credentials().password == left.password);
        CHECK(owner_of(path + "/e") == left.id);
        auto owned = co_await zk.get_ephemerals(path);
        CHECK(owned == std::vector<std::string>{path + "/e"});
        lock l(zk, path + "/lock");
        ownership held = co_await l.acquire();
        CHECK(owner_of(held.path()) == left.id);
        co_await zk.close();
        CHECK_FALSE(observer().exists(at_server(path + "/e")));
    });
}

TEST_CASE("continued session: left on purpose") {
    with_client([](client& other, std::string path) -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(the_hosts()));
        co_await create_ephemeral(zk, path + "/e");
        watched_data watched = co_await zk.watch_data(path + "/e");
        const session_credentials left = zk.credentials();
        outcome<stat> in_flight;
        zk.set(path + "/e", "1", any_version, in_flight.handler());
        co_await let_others_run();
        auto [ec] = co_await zk.leave_session(as_tuple());
        CHECK_FALSE(ec);
        CHECK(in_flight.done());
        CHECK_FALSE(in_flight.error());
        CHECK(zk.state() == session_state::closed);
        auto [ended, event] = co_await watched.changed.next(as_tuple());
        CHECK((!ended || ended == errc::closed));
        auto [closed, nothing] = co_await zk.get(path, as_tuple());
        CHECK(closed == errc::closed);
        auto [again] = co_await zk.leave_session(as_tuple());
        CHECK_FALSE(again);
        auto [unconfirmed] = co_await zk.close(as_tuple());
        CHECK(unconfirmed == errc::session_left_to_expire);
        zk = client();
        co_await other.sync();
        CHECK(owner_of(path + "/e") == left.id);
        zk = co_await connected_client(options_of(left));
        CHECK(zk.session_id() == left.id);
        CHECK(owner_of(path + "/e") == left.id);
        co_await zk.close();
    });
}

TEST_CASE("continued session: what was given up before it was left is gone") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        const session_credentials left = zk.credentials();
        lock l(zk, path);
        outcome<ownership> acquired;
        outcome<> leaving;
        SECTION("released") {
            {
                ownership held = co_await l.acquire();
                CHECK(observer().children(at_server(path)).size() == 1);
            }
            zk.leave_session(leaving.handler());
        }
        SECTION("cancelled, and created later") {
            const auto rule = proxy.arm(at_op(op_code::create2), hold_reply());
            l.acquire(acquired.handler());
            co_await eventually_async([&] { return proxy.fired(rule) == 1; });
            acquired.cancel(cancellation_type::terminal);
            zk.leave_session(leaving.handler());
            co_await let_others_run();
            proxy.release(rule);
        }
        co_await leaving.wait();
        CHECK(observer().children(at_server(path)).empty());
        client next = co_await connected_client(options_of(left));
        CHECK(next.session_id() == left.id);
        co_await next.close();
    });
}

TEST_CASE("continued session: it has expired, or the password is wrong") {
    with_client([](client&, std::string path) -> awaitable<void> {
        for (bool expired : {true, false}) {
            INFO((expired ? "expired" : "wrong password"));
            session_credentials left = crash(path + "/e");
            if (expired)
                REQUIRE(expire_session(the_server().port(), left.id, left.password));
            else
                left.password.assign(16, 'x');
            auto executor = co_await boost::asio::this_coro::executor;
            client zk(executor, options_of(left));
            std::vector<session_status> seen;
            boost::asio::co_spawn(
                executor, record_until(zk, session_state::connected, seen), boost::asio::detached);
            outcome<> connecting;
            zk.connect(connecting.handler());
            outcome<node_data> early;
            zk.get(path, early.handler());
            error_code ec = co_await connecting.wait();
            CHECK_FALSE(ec);
            ec = co_await early.wait();
            CHECK(ec == zk_errc::session_expired);
            co_await eventually_async([&] { return seen.size() == 3; });
            CHECK(seen[0].state == session_state::connecting);
            CHECK(seen[1].state == session_state::lost);
            CHECK(seen[1].reason == zk_errc::session_expired);
            CHECK(seen[2].state == session_state::connected);
            CHECK(zk.session_id() != left.id);
            CHECK(zk.credentials().id == zk.session_id());
            CHECK(zk.generation() == 1);
            node_data read = co_await zk.get(path);
            CHECK(read.data.empty());
            CHECK(observer().exists(at_server(path + "/e")) != expired);
            co_await zk.close();
            observer().erase(at_server(path + "/e"));
        }
    });
}

TEST_CASE("continued session: it has expired, and no new one is wanted") {
    with_client([](client&, std::string path) -> awaitable<void> {
        const session_credentials left = crash(path + "/e");
        REQUIRE(expire_session(the_server().port(), left.id, left.password));
        client_options options = options_of(left);
        options.renew_session = false;
        auto executor = co_await boost::asio::this_coro::executor;
        client zk(executor, options);
        auto [ec] = co_await zk.connect(as_tuple());
        CHECK(ec == zk_errc::session_expired);
        CHECK(zk.state() == session_state::closed);
        CHECK(zk.status().reason == zk_errc::session_expired);
        // Not asked for again.
        auto [later] = co_await zk.connect(as_tuple());
        CHECK_FALSE(later);
        CHECK(zk.session_id() != left.id);
        co_await zk.close();
    });
}

TEST_CASE("continued session: after a loss a new one begins") {
    with_client([](client&, std::string path) -> awaitable<void> {
        const session_credentials left = crash(path + "/e");
        fault_proxy proxy(the_server().port());
        client_options options = options_of(left);
        options.hosts = rooted(proxy.hosts());
        client zk = co_await connected_client(options);
        CHECK(zk.session_id() == left.id);
        proxy.cut();
        co_await reach(zk, session_state::suspended);
        co_await reach(zk, session_state::connected);
        CHECK(zk.session_id() == left.id);
        CHECK(zk.generation() == 1);
        expire_through(proxy);
        co_await reach(zk, session_state::lost);
        co_await reach(zk, session_state::connected);
        CHECK(zk.session_id() != left.id);
        CHECK(zk.generation() == 2);
        CHECK_FALSE(observer().exists(at_server(path + "/e")));
        co_await zk.close();
    });
}

TEST_CASE("continued session: closed before it was continued") {
    with_client([](client&, std::string path) -> awaitable<void> {
        const session_credentials left = crash(path + "/e");
        fault_proxy proxy(the_server().port());
        proxy.set_acceptance(acceptance::not_listening);
        client_options options = options_of(left);
        options.hosts = rooted(proxy.hosts());
        auto executor = co_await boost::asio::this_coro::executor;
        client zk(executor, options);
        outcome<> connecting;
        zk.connect(connecting.handler());
        co_await let_others_run();
        auto [ec] = co_await zk.close(as_tuple());
        CHECK(ec == errc::session_left_to_expire);
        error_code refused = co_await connecting.wait();
        CHECK(refused == errc::closed);
        CHECK(owner_of(path + "/e") == left.id);
    });
}

TEST_CASE("continued session: closed after it could not be continued") {
    with_client([](client&, std::string path) -> awaitable<void> {
        const session_credentials left = crash(path + "/e");
        fault_proxy proxy(the_server().port());
        proxy.set_acceptance(acceptance::not_listening);
        client_options options = options_of(left);
        options.hosts = rooted(proxy.hosts());
        options.connect_timeout = std::chrono::milliseconds(300);
        auto executor = co_await boost::asio::this_coro::executor;
        client zk(executor, options);
        auto [refused] = co_await zk.connect(as_tuple());
        CHECK(refused == errc::no_server);
        auto [ec] = co_await zk.close(as_tuple());
        CHECK(ec == errc::session_left_to_expire);
        CHECK(owner_of(path + "/e") == left.id);
    });
}

TEST_CASE("close: one call leaves the session, another one would have ended it") {
    const bool leaves_first = GENERATE(true, false);
    with_proxy([&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        path += "/e";
        co_await create_ephemeral(zk, path);
        const std::int64_t id = zk.session_id();
        const auto rule = proxy.arm(at_op(op_code::exists), hold_request());
        outcome<std::optional<stat>> slow;
        zk.exists(path, slow.handler());
        co_await eventually_async([&] { return proxy.statistics().held > 0; });
        outcome<> left, closed;
        if (leaves_first)
            zk.leave_session(left.handler());
        zk.close(closed.handler());
        if (!leaves_first)
            zk.leave_session(left.handler());
        proxy.release(rule);
        error_code leaving = co_await left.wait();
        error_code closing = co_await closed.wait();
        CHECK_FALSE(leaving);
        CHECK(closing == (leaves_first ? errc::session_left_to_expire : error_code()));
        CHECK(observer().exists(at_server(path)) == leaves_first);
        if (leaves_first)
            CHECK(owner_of(path) == id);
    });
}

TEST_CASE("close: nothing is left of a session that the server has ended") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string) -> awaitable<void> {
        expire_through(proxy);
        co_await reach(zk, session_state::lost);
        CHECK(zk.credentials().id == 0);
        auto [ec] = co_await zk.close(as_tuple());
        CHECK_FALSE(ec);
    });
}

TEST_CASE("close: there is nothing to continue once the server has confirmed it") {
    with_proxy([](client& zk, fault_proxy&, std::string) -> awaitable<void> {
        CHECK(zk.credentials().id != 0);
        auto [ec] = co_await zk.close(as_tuple());
        CHECK_FALSE(ec);
        CHECK(zk.credentials().id == 0);
    });
}

TEST_CASE("close: without time to wait, the server is told nevertheless") {
    client_options options = quiet_options("");
    options.close_timeout = std::chrono::milliseconds(0);
    options.session_timeout = std::chrono::seconds(20);
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            path += "/e";
            co_await create_ephemeral(zk, path);
            SECTION("nothing is in flight") {}
            SECTION("a response is still to come") {
                proxy.arm(at_op(op_code::exists), hold_reply());
                zk.exists(path, boost::asio::detached);
                co_await eventually_async([&] { return proxy.statistics().held > 0; });
            }
            auto [ec] = co_await zk.close(as_tuple());
            CHECK(ec == errc::session_left_to_expire);
            // Long before it would expire.
            co_await eventually_async([&] { return !observer().exists(at_server(path)); },
                                      zk.status().negotiated_timeout / 2);
        },
        options);
}

TEST_CASE("close: a session that is lost by the local clock may be left") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string) -> awaitable<void> {
        proxy.set_acceptance(acceptance::not_listening);
        proxy.cut();
        co_await reach(zk, session_state::lost);
        CHECK(zk.credentials().id != 0);
        auto [ec] = co_await zk.close(as_tuple());
        CHECK(ec == errc::session_left_to_expire);
    });
}

TEST_CASE("continued session: the older of two clients is cut off") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await create_ephemeral(zk, path + "/e");
        proxy.set_acceptance(acceptance::not_listening);
        client younger = co_await connected_client(options_of(zk.credentials()));
        co_await reach(zk, session_state::suspended);
        CHECK(younger.session_id() == zk.session_id());
        co_await younger.set(path + "/e", "2", any_version);
        CHECK(owner_of(path + "/e") == younger.session_id());
        // It ends without the session, too.
        auto [ec] = co_await zk.leave_session(as_tuple());
        CHECK_FALSE(ec);
        CHECK(owner_of(path + "/e") == younger.session_id());
        co_await younger.close();
        CHECK_FALSE(observer().exists(at_server(path + "/e")));
    });
}

TEST_CASE("continued session: credentials that cannot be any") {
    with_client([](client& zk, std::string) -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        session_credentials no_id = zk.credentials();
        no_id.id = 0;
        session_credentials short_password = zk.credentials();
        short_password.password.pop_back();
        for (const session_credentials& wrong : {no_id, short_password}) {
            client never(executor, options_of(wrong));
            CHECK(never.credentials().id == 0);
            auto [ec] = co_await never.connect(as_tuple());
            CHECK(ec == errc::bad_option);
        }
        client none;
        CHECK(none.credentials().id == 0);
        auto [ec] = co_await none.leave_session(as_tuple());
        CHECK_FALSE(ec);
    });
}

}  // namespace corozk::testing::client_tests::continued_session_test
