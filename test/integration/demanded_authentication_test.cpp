// SPDX-License-Identifier: Apache-2.0
// A server that serves nobody without credentials (ZOOKEEPER-3561): who has none is told, and leaves
// it alone.
#include "client_fixture.hpp"
#include "every_operation.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace corozk::testing::client_tests::demanded_authentication_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

constexpr auto demanded = zk_errc::session_closed_require_sasl_auth;

server& strict_server() {
    server_options options = client_server_options();
    options.config_lines = {"enforce.auth.enabled=true", "enforce.auth.schemes=digest"};
    static server instance(options);
    return instance;
}

/// A client of that server without credentials, and what it has logged.
template <class Body>
void with_stranger(Body body, std::string hosts = strict_server().hosts()) {
    boost::asio::io_context context;
    std::string log;
    run(context, [&]() -> awaitable<void> {
        client_options options = quiet_options(hosts);
        options.logger =
            logger(log_level::error, [&log](log_level, std::string_view text) { log += text; });
        client zk(co_await boost::asio::this_coro::executor, options);
        co_await body(zk);
        co_await zk.close(as_tuple());
    });
    CHECK_THAT(log, Contains("client_options::auth"));
    run_to_idle(context);
}

}  // namespace

TEST_CASE("demanded authentication: the first answer says so, and is the last one") {
    with_stranger([](client& zk) -> awaitable<void> {
        co_await zk.connect();
        auto [ec, data] = co_await zk.get("/", as_tuple());
        CHECK(ec == demanded);
        CHECK(is_session_lost(ec));
        CHECK_THAT(ec.message(), Contains("client_options::auth"));
        CHECK(zk.status().state == session_state::closed);
        CHECK(zk.status().reason == demanded);
        auto [later, path] = co_await zk.create("/a", "", create_options(), as_tuple());
        CHECK(later == errc::closed);
        CHECK(zk.counters().connects == 1);
    });
}

TEST_CASE("demanded authentication: looking for the chroot is refused, and so is the connection") {
    with_stranger(
        [](client& zk) -> awaitable<void> {
            auto [ec] = co_await zk.connect(as_tuple());
            CHECK(ec == demanded);
        },
        strict_server().hosts() + "/folder");
}

TEST_CASE("demanded authentication: every operation of every recipe ends") {
    with_stranger([](client& zk) -> awaitable<void> {
        co_await zk.connect();
        every_operation all(zk, "/a/b");
        all.ask_all();
        co_await eventually_async([&] { return all.complete(); });
        CHECK(all.answers().at("lock.acquire") == demanded);
        CHECK(zk.counters().connects == 1);
    });
}

TEST_CASE("demanded authentication: whatever is asked first, its error or the state says why") {
    for (std::string what : {"lock", "barrier", "counter", "double_barrier", "queue"}) {
        CAPTURE(what);
        with_stranger([&](client& zk) -> awaitable<void> {
            co_await zk.connect();
            error_code ec;
            if (what == "lock") {
                lock l(zk, "/a");
                ec = std::get<0>(co_await l.acquire(as_tuple()));
            } else if (what == "barrier") {
                barrier b(zk, "/a");
                ec = std::get<0>(co_await b.wait(as_tuple()));
            } else if (what == "counter") {
                counter c(zk, "/a");
                ec = std::get<0>(co_await c.add(1, as_tuple()));
            } else if (what == "double_barrier") {
                double_barrier d(zk, "/a", 2);
                ec = std::get<0>(co_await d.enter(as_tuple()));
            } else {
                queue q(zk, "/a");
                ec = std::get<0>(co_await q.take(as_tuple()));
            }
            CHECK((ec == demanded || ec == errc::closed));
            CHECK(zk.status().reason == demanded);
            CHECK(zk.counters().connects == 1);
        });
    }
}

TEST_CASE("demanded authentication: who has asked nothing can leave") {
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        client_options options = quiet_options(strict_server().hosts());
        client zk(co_await boost::asio::this_coro::executor, options);
        co_await zk.connect();
        auto [ec] = co_await zk.close(as_tuple());
        // The server refuses the closing request, too.
        CHECK(ec == errc::session_left_to_expire);
        CHECK(zk.status().state == session_state::closed);
    });
    run_to_idle(context);
}

TEST_CASE("demanded authentication: with credentials everything is as ever, also after a cut") {
    for (bool from_options : {true, false}) {
        boost::asio::io_context context;
        fault_proxy proxy(strict_server().port());
        run(context, [&]() -> awaitable<void> {
            client_options options = quiet_options(proxy.hosts());
            if (from_options)
                options.auth.emplace_back("digest", "ann:secret");
            client zk(co_await boost::asio::this_coro::executor, options);
            co_await zk.connect();
            if (!from_options)
                co_await zk.add_auth("digest", "ann:secret");
            lock l(zk, from_options ? "/by-option" : "/by-call");
            ownership held = co_await l.acquire();
            session_status connected = zk.status();
            proxy.cut();
            co_await zk.next_status(connected);
            co_await zk.get("/");
            CHECK(held.valid());
            CHECK(zk.status().generation == 1);
            co_await held.release();
            co_await zk.close();
        });
        run_to_idle(context);
    }
}

}  // namespace corozk::testing::client_tests::demanded_authentication_test
