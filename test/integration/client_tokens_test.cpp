// SPDX-License-Identifier: Apache-2.0
// Every completion token, and the shapes of co_await expressions that the API allows: compiled and
// run. Under the address sanitizer this is the regression test for g++ 12.2, which destroys some
// temporaries twice beside co_await.
#include "client_fixture.hpp"
#include <corozk/client.hpp>
#include <corozk/recipe/cache.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/membership.hpp>
#include <corozk/recipe/name_service.hpp>
#include <corozk/recipe/service_discovery.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <catch2/catch.hpp>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace corozk::testing::client_tests::client_tokens_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using namespace boost::asio::experimental::awaitable_operators;
using boost::asio::deferred;
using boost::asio::redirect_error;
using boost::asio::use_awaitable;
using boost::asio::use_future;

TEST_CASE("token: default, in an awaitable, throws what names operation and path") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::string data = (co_await zk.get(path)).data;
        CHECK(data.empty());
        try {
            co_await zk.get(path + "/none");
            FAIL("no error");
        } catch (const error& e) {
            CHECK(e.code() == zk_errc::no_node);
            CHECK(e.operation() == "get");
            CHECK(e.path() == path + "/none");
        }
        try {
            co_await zk.erase(path + "/none");
            FAIL("no error");
        } catch (const boost::system::system_error& e) {
            CHECK_THAT(e.what(), Catch::StartsWith("erase " + path + "/none: no node"));
        }
    });
}

TEST_CASE("token: an awaitable that is never awaited starts nothing") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        { auto unused = zk.set(path, "x"); }
        co_await zk.sync();
        CHECK(observer().stat(at_server(path))->version == 0);
    });
}

TEST_CASE("token: callbacks run on the executor, never inside the initiating call") {
    boost::asio::io_context context;
    auto main_thread = std::this_thread::get_id();
    std::vector<std::string> order;
    std::optional<client> zk;
    client::connect(
        context.get_executor(), quiet_options(the_hosts()), [&](error_code ec, client made) {
            REQUIRE_FALSE(ec);
            CHECK(std::this_thread::get_id() == main_thread);
            order.push_back("connected");
            zk.emplace(std::move(made));
            // Refused at once and answered later: both come back from the loop.
            zk->get("bad path", [&](error_code bad, node_data) {
                CHECK(bad == errc::bad_path);
                order.push_back("refused");
            });
            zk->get("/", [&](error_code good, node_data) {
                CHECK_FALSE(good);
                order.push_back("answered");
                zk->close([&](error_code) { order.push_back("closed"); });
                order.push_back("closing");
            });
            order.push_back("started");
        });
    CHECK(order.empty());
    context.run();
    CHECK(order == std::vector<std::string>{
                       "connected", "started", "refused", "answered", "closing", "closed"});
}

TEST_CASE("token: no handler runs inside its initiating call, whatever the operation and state") {
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        client empty;
        client idle(executor, quiet_options(the_hosts()));
        client open = co_await connected_client(quiet_options(the_hosts()));
        client closed = co_await connected_client(quiet_options(the_hosts()));
        co_await closed.close();
        std::atomic<int> pending{0};
        for (client* zk : {&empty, &idle, &open, &closed}) {
            for (std::string path : {"/", "bad"}) {
                bool inside = true;
                auto token = [&](auto&&...) {
                    CHECK_FALSE(inside);
                    --pending;
                };
                // Those of an empty client have no executor of ours.
                auto here = boost::asio::bind_executor(executor, token);
                pending += 17;
                zk->create(path, "", create_options(), here);
                zk->ensure_path(path, create_options(), here);
                zk->get(path, here);
                zk->set(path, "", 77, here);
                zk->exists(path, here);
                zk->get_children(path, here);
                zk->erase(path, 77, here);
                zk->sync(path, here);
                zk->get_acl(path, here);
                zk->set_acl(path, acl(), any_version, here);
                zk->commit(transaction(), here);
                zk->add_auth("", "", here);
                zk->watch_data(path, here);
                zk->watch_exists(path, here);
                zk->watch_children(path, here);
                zk->get_config(here);
                session_status other;
                other.revision = 77;
                zk->next_status(other, here);
                inside = false;
                co_await eventually_async([&] { return pending == 0; });
            }
        }
        bool inside = true;
        auto token = [&](auto&&...) {
            CHECK_FALSE(inside);
            --pending;
        };
        auto here = boost::asio::bind_executor(executor, token);
        pending = 6;
        empty.close(here);
        closed.close(here);
        idle.close(here);
        empty.connect(here);
        client::connect(executor, client_options("a:b"), here);
        watch().next(here);
        inside = false;
        co_await eventually_async([&] { return pending == 0; });
        co_await open.close();
    });
    run_to_idle(context);
}

namespace {

/// Whether `client::connect` without an executor refuses a token.
template <class Token>
bool refused_by_connect(Token token) {
    bool refused = false;
    auto see = [&refused](auto handler) {
        using executor = decltype(boost::asio::get_associated_executor(handler));
        refused = corozk::detail::has_no_executor_of_its_own<executor>;
    };
    (void)boost::asio::async_initiate<Token, void(error_code, int)>(see, token);
    return refused;
}

}  // namespace

TEST_CASE("token: those whose handlers have no executor of their own make no client without one") {
    auto callback = [](error_code, int) {};
    CHECK(refused_by_connect(callback));
    CHECK(refused_by_connect(boost::asio::detached));
    CHECK(refused_by_connect(use_future));
    CHECK(refused_by_connect(use_future([](error_code, int value) { return value; })));
    boost::asio::io_context context;
    CHECK_FALSE(refused_by_connect(boost::asio::bind_executor(context, callback)));
    CHECK_FALSE(refused_by_connect(boost::asio::bind_executor(context, use_future)));
}

TEST_CASE("token: use_future, from another thread") {
    boost::asio::io_context context;
    auto work = boost::asio::make_work_guard(context);
    std::thread loop([&] { context.run(); });
    {
        std::future<client> connecting =
            client::connect(context.get_executor(), quiet_options(the_hosts()), use_future);
        client zk = connecting.get();
        // On the client's executor, as its documentation asks for.
        std::promise<std::future<node_data>> reading;
        boost::asio::post(context, [&] { reading.set_value(zk.get("/", use_future)); });
        node_data read = reading.get_future().get().get();
        CHECK(read.stat.num_children >= 0);
        std::promise<std::future<node_data>> failing;
        boost::asio::post(context, [&] { failing.set_value(zk.get("/none", use_future)); });
        std::future<node_data> failed = failing.get_future().get();
        CHECK_THROWS_AS(failed.get(), boost::system::system_error);
        std::promise<std::future<void>> closing;
        boost::asio::post(context, [&] { closing.set_value(zk.close(use_future)); });
        closing.get_future().get().get();
        std::promise<void> gone;
        boost::asio::post(context, [&] {
            client end = std::move(zk);
            gone.set_value();
        });
        gone.get_future().get();
        std::future<client> refused =
            client::connect(context.get_executor(), client_options("bad:port"), use_future);
        CHECK_THROWS_AS(refused.get(), boost::system::system_error);
    }
    work.reset();
    loop.join();
}

TEST_CASE("token: as_tuple, redirect_error, use_awaitable") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        auto [ec, read] = co_await zk.get(path, as_tuple());
        CHECK_FALSE(ec);
        auto [missing, nothing] = co_await zk.get(path + "/no", as_tuple());
        CHECK(missing == zk_errc::no_node);

        error_code redirected;
        node_data node = co_await zk.get(path, redirect_error(use_awaitable, redirected));
        CHECK_FALSE(redirected);
        co_await zk.erase(path + "/no", any_version, redirect_error(use_awaitable, redirected));
        CHECK(redirected == zk_errc::no_node);

        corozk::stat changed = co_await zk.set(path, "x", any_version, use_awaitable);
        CHECK(changed.version == 1);
        try {
            co_await zk.get(path + "/no", use_awaitable);
            FAIL("no error");
        } catch (const boost::system::system_error& e) {
            CHECK(e.code() == zk_errc::no_node);
        }
    });
}

TEST_CASE("token: deferred starts the operation when it is called") {
    auto body = [](client& zk, std::string path) -> awaitable<void> {
        auto before = zk.counters().requests;
        auto later = zk.set(path, "deferred", any_version, deferred);
        co_await let_others_run();
        CHECK(zk.counters().requests == before);
        corozk::stat changed = co_await std::move(later)(use_awaitable);
        CHECK(changed.version == 1);
        auto read = co_await zk.get(path, deferred)(as_tuple());
        CHECK_FALSE(std::get<0>(read));
        CHECK(std::get<1>(read).data == "deferred");
        auto missing = co_await zk.get(path + "/no", deferred)(as_tuple());
        CHECK(std::get<0>(missing) == zk_errc::no_node);
        // Chained without a coroutine.
        outcome<corozk::stat> chained;
        zk.set(path, "one", any_version, deferred([&](error_code ec, corozk::stat s) {
                   CHECK_FALSE(ec);
                   return zk.set(path, "two", s.version, deferred);
               }))(chained.handler());
        error_code ec = co_await chained.wait();
        CHECK_FALSE(ec);
        CHECK(chained.value().version == 3);
    };
    with_client(body, run_limit, steady_session_timeout);
}

TEST_CASE("token: handlers that can only be moved, and erased ones") {
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        client zk = co_await client::connect(quiet_options(the_hosts()));
        std::string path = fresh_path();
        co_await zk.create(path);
        int called = 0;
        auto only_moved = [&called, owned = std::make_unique<int>(1)](error_code ec, auto&&...) {
            if (!ec)
                called += *owned;
        };
        zk.exists(path, std::move(only_moved));
        using erased = boost::asio::any_completion_handler<void(error_code)>;
        zk.sync(path, erased([&called](error_code ec) {
                    if (!ec)
                        ++called;
                }));
        lock l(zk, path + "/lock");
        l.acquire([&called, owned = std::make_unique<int>(1)](error_code ec, ownership held) {
            if (!ec && held.valid())
                called += *owned;
            held.release(erased([&called](error_code released) {
                if (!released)
                    ++called;
            }));
        });
        co_await eventually_async([&] { return called == 4; }, 10s, "all handlers are called");
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("token: it follows the arguments that are given, whatever could be given as well") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        auto good = [&](auto&& completed) { CHECK_FALSE(std::get<0>(completed)); };
        auto tuple = as_tuple();
        good(co_await zk.ensure_path(path + "/p/q", tuple));
        good(co_await zk.create(path + "/a", tuple));
        good(co_await zk.create(path + "/b", "data", tuple));
        good(co_await zk.set(path + "/a", "new", tuple));
        good(co_await zk.set_acl(path + "/a", corozk::open_acl(), tuple));
        good(co_await zk.erase(path + "/b", tuple));
        good(co_await zk.sync(tuple));
        node_cache cache(zk, path + "/a");
        good(co_await cache.next(tuple));
        membership group(zk, path + "/group");
        good(co_await group.join("me", tuple));
        name_service names(zk, path + "/names");
        good(co_await names.register_name("n", "v", tuple));
        good(co_await names.list(tuple));
        service_discovery services(zk, path + "/services");
        service_instance instance("web", "127.0.0.1", 80);
        good(co_await services.register_instance(instance, tuple));
        good(co_await services.unregister(instance, tuple));
        good(co_await services.list_names(tuple));
        service_cache instances(zk, path + "/services", "web");
        good(co_await instances.next(tuple));
        // A handler that captures nothing, which could be taken for a number or a truth value.
        zk.set(path + "/a", "last", [](error_code, corozk::stat) {});
        zk.erase(path + "/p/q", [](error_code) {});
        co_await zk.sync("/");
        CHECK((co_await zk.get(path + "/a")).data == "last");
        CHECK((co_await zk.get_children(path + "/p")).names.empty());
    });
}

TEST_CASE("token: detached") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        zk.set(path, "x", any_version, boost::asio::detached);
        node_data read = co_await zk.get(path);
        CHECK(read.data == "x");
    });
}

TEST_CASE("token: with ||, the loser is cancelled") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        boost::asio::steady_timer timer(zk.get_executor(), 1h);
        auto first = co_await (zk.get(path) || timer.async_wait(use_awaitable));
        REQUIRE(first.index() == 0);
        CHECK(std::get<0>(first).data.empty());

        watched_data w = co_await zk.watch_data(path);
        timer.expires_after(1ms);
        auto second = co_await (w.changed.next() || timer.async_wait(use_awaitable));
        CHECK(second.index() == 1);
        // The watch is still good.
        CHECK(w.changed.pending());
        auto third = co_await (w.changed.next() || zk.set(path, "x"));
        bool either = third.index() == 0 || third.index() == 1;
        CHECK(either);
        if (third.index() == 1) {
            watch_event event = co_await w.changed.next();
            CHECK(event.type == watch_event_type::data_changed);
        }
        auto fourth = co_await (zk.next_status(zk.status()) || zk.get(path));
        CHECK(fourth.index() == 1);
        auto fifth = co_await (zk.get(path, use_awaitable) || timer.async_wait(use_awaitable));
        (void)fifth;
    });
}

TEST_CASE("token: with &&, all of them") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        auto [made, read, names] =
            co_await (zk.create(path + "/a", "1") && zk.get(path) && zk.get_children(path));
        CHECK(made.path == path + "/a");
        CHECK(names.names == std::vector<std::string>{"a"});
        co_await (zk.set(path, "2") && zk.sync() && zk.erase(path + "/a"));
        bool failed = false;
        try {
            co_await (zk.get(path) && zk.get(path + "/none"));
        } catch (const error& e) {
            failed = e.code() == zk_errc::no_node && e.path() == path + "/none";
        }
        CHECK(failed);
    });
}

TEST_CASE("token: connect and close with ||, on the coroutine's executor") {
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, 1h);
        client_options options = quiet_options(the_hosts());
        auto race = co_await (client::connect(options) || timer.async_wait(use_awaitable));
        REQUIRE(race.index() == 0);
        client zk = std::get<0>(std::move(race));
        CHECK(zk.state() == session_state::connected);
        auto end = co_await (zk.close() || timer.async_wait(use_awaitable));
        CHECK(end.index() == 0);
    });
    run_to_idle(context);
}

TEST_CASE("token: a handler's own executor is honoured") {
    boost::asio::io_context context;
    boost::asio::thread_pool pool(1);
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(the_hosts()));
        auto here = std::this_thread::get_id();
        std::promise<std::thread::id> ran_on;
        zk.get("/", boost::asio::bind_executor(pool, [&](error_code, node_data) {
                   ran_on.set_value(std::this_thread::get_id());
               }));
        auto result = ran_on.get_future();
        co_await eventually_async([&] { return result.wait_for(0s) == std::future_status::ready; });
        CHECK(result.get() != here);
        co_await zk.close();
    });
    run_to_idle(context);
    pool.join();
}

TEST_CASE(
    "token: the context of a handler does not run out of work while its operation is pending") {
    boost::asio::io_context context;
    boost::asio::io_context other;
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(the_hosts()));
        std::string path = fresh_path();
        watched_stat missing = co_await zk.watch_exists(path);
        bool seen = false;
        missing.changed.next(boost::asio::bind_executor(
            other.get_executor(), [&](error_code ec, watch_event) { seen = !ec; }));
        other.poll();
        CHECK_FALSE(other.stopped());
        co_await zk.create(path);
        co_await eventually_async([&] { return other.poll() > 0; });
        CHECK(seen);
        other.poll();
        CHECK(other.stopped());
        // Also in the type of an executor that coroutines have.
        boost::asio::any_io_executor erased = other.get_executor();
        other.restart();
        zk.sync("/", boost::asio::bind_executor(erased, [](error_code) {}));
        other.poll();
        CHECK_FALSE(other.stopped());
        co_await eventually_async([&] { return other.poll() > 0; });
        other.poll();
        CHECK(other.stopped());
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("token: a client on a strand of a thread pool") {
    boost::asio::thread_pool pool(4);
    auto strand = boost::asio::make_strand(pool);
    std::string hosts = the_hosts();
    auto future = boost::asio::co_spawn(
        strand,
        [&]() -> awaitable<int> {
            client zk = co_await client::connect(strand, quiet_options(hosts));
            int good = 0;
            for (int i = 0; i < 200; ++i) {
                co_await zk.get("/");
                CHECK(strand.running_in_this_thread());
                ++good;
            }
            co_await zk.close();
            co_return good;
        },
        use_future);
    CHECK(future.get() == 200);
    pool.join();
}

TEST_CASE("shapes: everything that the API allows inside a co_await expression") {
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        // Options with a declared constructor, as a temporary.
        client zk = co_await client::connect(quiet_options(the_hosts()));
        std::string path = fresh_path() + "-a-path-that-is-too-long-for-the-small-string-buffer";
        std::string long_data(100, 'x');
        // co_await-ok: trivially destructible
        co_await zk.create(path, long_data + "y", {.mode = create_mode::persistent});
        // co_await-ok: trivially destructible
        co_await zk.create(path + "/e", {}, {.mode = create_mode::ephemeral});
        const acl mine = corozk::open_acl();
        // co_await-ok: trivially destructible
        co_await zk.create(
            path + "/t", "", {.mode = create_mode::persistent_with_ttl, .ttl = 60s, .acl = &mine});
        // co_await-ok: trivially destructible
        co_await zk.create(path + "/c", "", create_options{.acl = &mine});
        // Default arguments.
        co_await zk.create(path + "/d");
        co_await zk.sync();
        co_await zk.set(path, long_data);
        // Results used within the expression.
        CHECK((co_await zk.get(path)).data == long_data);
        std::string copied = (co_await zk.get(path)).data + "z";
        CHECK(copied == long_data + "z");
        REQUIRE((co_await zk.get_children(path)).names.size() == 4);
        for (const std::string& name : std::vector<std::string>{"e", "t", "c"}) {
            co_await zk.erase(path + "/" + name);
        }
        // Values that are classes with a constructor.
        co_await zk.set_acl(path, corozk::open_acl());
        co_await zk.set_acl(path, acl(1, corozk::acl_entry(permission::all, "world", "anyone")));
        co_await zk.commit(transaction().set(path, long_data).check(path).create(path + "/n"));
        auto count = (co_await zk.commit(transaction().erase(path + "/n"))).size();
        CHECK(count == 1);
        watch w = (co_await zk.watch_data(path)).changed;
        CHECK(w.pending());
        auto event = co_await ((co_await zk.watch_exists(path + "/new")).changed.next() &&
                               zk.create(path + "/new"));
        CHECK(std::get<0>(event).path == path + "/new");
        // In conditions, loops, throwing calls, and as arguments.
        if (co_await zk.exists(path + "/d"))
            co_await zk.erase(path + "/d");  // co_await-ok: as a user might write it
        while (!(co_await zk.get_children(path)).names.empty())
            co_await zk.erase(path + "/new");  // co_await-ok: the same
        CHECK_FALSE((co_await zk.exists(path + std::string("/none"))).has_value());
        for (int i = 0; i < 3; ++i) {
            bool thrown = false;
            try {
                // co_await-ok: trivially destructible
                co_await zk.create(
                    path + "/none/below", long_data + "y", {.mode = create_mode::ephemeral});
            } catch (const error& e) {
                thrown = e.path() == path + "/none/below";
            }
            CHECK(thrown);
        }
        co_await zk.erase(path);
        co_await zk.close();
    });
    run_to_idle(context);
}

}  // namespace corozk::testing::client_tests::client_tokens_test
