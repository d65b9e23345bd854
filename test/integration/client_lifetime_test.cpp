// SPDX-License-Identifier: Apache-2.0
// Clients that are destroyed in every state, and contexts with everything pending. Under the
// address sanitizer this also shows that nothing leaks.
#include "client_fixture.hpp"
#include <corozk/client.hpp>
#include <corozk/testing/waiting_for_core.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>

#include <catch2/catch.hpp>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace corozk::testing::client_tests::client_lifetime_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using boost::asio::co_spawn;
using boost::asio::detached;
using boost::asio::use_awaitable;

namespace {

constexpr std::size_t many = 100;

/// Everything that can wait for a client, many times over.
struct burden {
    std::vector<outcome<node_data>> reads = std::vector<outcome<node_data>>(many);
    std::vector<outcome<corozk::stat>> writes = std::vector<outcome<corozk::stat>>(many);
    std::vector<outcome<watch_event>> events = std::vector<outcome<watch_event>>(many);
    std::vector<outcome<session_status>> states = std::vector<outcome<session_status>>(many);
    std::vector<watch> watches;

    awaitable<void> set_watches(client& zk, const std::string& path) {
        for (std::size_t i = 0; i < many; ++i) {
            watched_stat w = co_await zk.watch_exists(path + "-" + std::to_string(i));
            watches.push_back(std::move(w.changed));
            watches.back().next(events[i].handler());
        }
    }

    void start(client& zk, const std::string& path) {
        for (std::size_t i = 0; i < many; ++i) {
            zk.get(path, reads[i].handler());
            zk.set(path, "x", any_version, writes[i].handler());
            zk.next_status(zk.status(), states[i].handler());
        }
    }

    bool all_done() const {
        auto done = [](const auto& list) {
            return std::all_of(list.begin(), list.end(), [](auto& o) { return o.done(); });
        };
        return done(reads) && done(writes) && done(states) && (watches.empty() || done(events));
    }

    void check_once() const {
        auto once = [](const auto& list) {
            return std::all_of(list.begin(), list.end(), [](auto& o) { return o.calls() <= 1; });
        };
        CHECK(once(reads));
        CHECK(once(writes));
        CHECK(once(states));
        CHECK(once(events));
    }
};

/// The longest time between two turns of the context, as other coroutines see it; without that in which
/// the thread had no core, which a busy machine takes.
class watchdog {
public:
    explicit watchdog(boost::asio::io_context& context) {
        co_spawn(context, watch_loop(state_), detached);
    }
    ~watchdog() { state_->stop = true; }

    std::chrono::milliseconds longest() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(state_->longest);
    }

private:
    struct state_type {
        bool stop = false;
        std::chrono::steady_clock::duration longest{};
        waiting_for_core core;
    };

    static awaitable<void> watch_loop(std::shared_ptr<state_type> s) {
        boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
        while (!s->stop) {
            auto waited = s->core.total();
            auto due = std::chrono::steady_clock::now() + 1ms;
            timer.expires_at(due);
            co_await timer.async_wait(use_awaitable);
            auto late = std::chrono::steady_clock::now() - due;
            s->longest = std::max(s->longest, late - (s->core.total() - waited));
        }
    }

    std::shared_ptr<state_type> state_ = std::make_shared<state_type>();
};

}  // namespace

TEST_CASE("destroy: an idle client") {
    boost::asio::io_context context;
    { client never_used(context.get_executor(), quiet_options("127.0.0.1:1")); }
    run_to_idle(context);
    burden b;
    {
        client zk(context.get_executor(), quiet_options("127.0.0.1:1"));
        b.start(zk, "/");
    }
    run_to_idle(context);
    CHECK(b.all_done());
    b.check_once();
    CHECK(b.reads[0].error() == errc::closed);
}

TEST_CASE("destroy: a closed client, with somebody who waits for its next state") {
    boost::asio::io_context context;
    burden b;
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(the_hosts()));
        co_await zk.close();
        b.start(zk, "/");
    });
    run_to_idle(context);
    CHECK(b.all_done());
    b.check_once();
}

TEST_CASE("destroy: a connecting client") {
    for (int how : {0, 1, 2}) {
        boost::asio::io_context context;
        fault_proxy proxy(the_server().port());
        std::string hosts = rooted(proxy.hosts());
        if (how == 0)
            proxy.set_acceptance(acceptance::not_listening);
        if (how == 1)
            proxy.black_hole(true);
        if (how == 2)
            hosts = "no-such-host.invalid:2181";
        burden b;
        outcome<> connecting;
        run(context, [&]() -> awaitable<void> {
            auto executor = co_await boost::asio::this_coro::executor;
            client zk(executor, quiet_options(hosts));
            zk.connect(connecting.handler());
            b.start(zk, "/");
            if (how == 1) {
                co_await eventually_async(
                    [&] { return proxy.statistics().connections_accepted > 0; });
            }
            co_await let_others_run();
        });
        run_to_idle(context);
        CHECK(connecting.calls() == 1);
        CHECK(connecting.error() == errc::closed);
        CHECK(b.all_done());
        b.check_once();
        CHECK(b.writes[0].error() == errc::closed);
    }
}

TEST_CASE("destroy: a connected client with operations and watches pending") {
    boost::asio::io_context context;
    std::string path = fresh_path();
    std::string fleeting_path = path + "-fleeting";
    burden b;
    std::uint64_t before = 0;
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(the_hosts()));
        co_await zk.create(path);
        create_options fleeting;
        fleeting.mode = create_mode::ephemeral;
        co_await zk.create(fleeting_path, "", fleeting);
        co_await b.set_watches(zk, path);
        before = zk.counters().watches;
        b.start(zk, path);
        // Some are on their way, some are not.
        co_await let_others_run(1);
        b.start(zk, path);
    });
    CHECK(before == many);
    run_to_idle(context);
    CHECK(b.all_done());
    for (auto& event : b.events)
        CHECK(event.error() == errc::closed);
    // The session was closed properly.
    CHECK_FALSE(observer().exists(at_server(fleeting_path)));
}

TEST_CASE("destroy: a suspended client") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    burden b;
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(rooted(proxy.hosts())));
        co_await b.set_watches(zk, fresh_path());
        proxy.set_acceptance(acceptance::not_listening);
        proxy.cut();
        co_await reach(zk, session_state::suspended);
        b.start(zk, "/");
    });
    run_to_idle(context);
    CHECK(b.all_done());
    b.check_once();
    CHECK(b.reads[0].error() == errc::closed);
    CHECK(b.events[0].error() == errc::closed);
}

TEST_CASE("destroy: a closing client") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    outcome<> closing;
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(rooted(proxy.hosts())));
        rule_id rule = proxy.arm(at_op(testing::op_code::close_session), hold_request());
        zk.close(closing.handler());
        co_await eventually_async([&] { return proxy.fired(rule) == 1; });
        proxy.release(rule);
    });
    run_to_idle(context);
    CHECK(closing.calls() == 1);
    CHECK_FALSE(closing.error());
}

TEST_CASE("destroy: a client that is moved onto another") {
    boost::asio::io_context context;
    std::string path = fresh_path();
    run(context, [&]() -> awaitable<void> {
        client one = co_await connected_client(quiet_options(the_hosts()));
        client two = co_await connected_client(quiet_options(the_hosts()));
        std::int64_t id = two.session_id();
        create_options fleeting;
        fleeting.mode = create_mode::ephemeral;
        co_await one.create(path, "", fleeting);
        outcome<node_data> read;
        one = std::move(two);
        CHECK(one.session_id() == id);
        CHECK(two.state() == session_state::closed);
        auto [ec, node] = co_await two.get("/", as_tuple());
        CHECK(ec == errc::closed);
        co_await one.get("/");
        co_await eventually_async([&] { return !observer().exists(at_server(path)); });
        co_await one.close();
    });
    run_to_idle(context);
}

TEST_CASE("destroy: a watch outlives its client, and an operation its watch") {
    boost::asio::io_context context;
    std::optional<watch> left;
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(the_hosts()));
        watched_data w = co_await zk.watch_data("/");
        left.emplace(std::move(w.changed));
    });
    run_to_idle(context);
    CHECK_FALSE(left->pending());
    run(context, [&]() -> awaitable<void> {
        auto [ec, event] = co_await left->next(as_tuple());
        CHECK(ec == errc::closed);
    });
    left.reset();
    run_to_idle(context);
}

TEST_CASE("context: destroyed with everything pending, in each state") {
    fault_proxy proxy(the_server().port());
    std::string hosts = rooted(proxy.hosts());
    the_hosts();
    for (int how = 0; how < 6; ++how) {
        INFO("case " << how);
        proxy.set_acceptance(acceptance::normal);
        proxy.black_hole(false);
        proxy.disarm_all();
        burden b;
        bool reached = false;
        std::optional<watch> outside;
        {
            boost::asio::io_context context;
            auto body = [&]() -> awaitable<void> {
                auto executor = co_await boost::asio::this_coro::executor;
                client_options options = quiet_options(hosts);
                if (how == 0) {
                    client zk(executor, options);
                    b.start(zk, "/");
                    reached = true;
                    co_await zk.next_status(zk.status());
                } else if (how == 1) {
                    proxy.black_hole(true);
                    reached = true;
                    client zk = co_await client::connect(options);
                } else {
                    client zk = co_await client::connect(options);
                    std::string path = fresh_path();
                    co_await b.set_watches(zk, path);
                    watched_stat mine = co_await zk.watch_exists(path + "-mine");
                    watched_stat kept = co_await zk.watch_exists(path + "-kept");
                    outside.emplace(std::move(kept.changed));
                    if (how == 2) {
                        b.start(zk, "/");
                        reached = true;
                        // The coroutine owns what it waits for, which owns the coroutine.
                        co_await mine.changed.next();
                    } else if (how == 3) {
                        proxy.set_acceptance(acceptance::not_listening);
                        proxy.cut();
                        co_await reach(zk, session_state::suspended);
                        b.start(zk, "/");
                        reached = true;
                        co_await zk.get("/");
                    } else if (how == 4) {
                        proxy.black_hole(true);
                        b.start(zk, "/");
                        reached = true;
                        co_await zk.close();
                    } else {
                        proxy.black_hole(true);
                        b.start(zk, "/");
                        zk.ensure_path(path + "/a/b", create_options(), detached);
                        co_await let_others_run();
                        reached = true;
                        co_await zk.next_status(zk.status());
                    }
                }
            };
            co_spawn(context, body, detached);
            while (!reached)
                context.run_one();
            for (int i = 0; i < 10; ++i)
                context.poll_one();
        }
        CHECK(reached);
        b.check_once();
    }
}

TEST_CASE("context: destroyed before it ever ran") {
    outcome<client> made;
    outcome<> connecting;
    std::optional<client> outlives;
    {
        boost::asio::io_context context;
        client::connect(context.get_executor(), quiet_options(the_hosts()), made.handler());
        client zk(context.get_executor(), quiet_options(the_hosts()));
        zk.connect(connecting.handler());
        zk.get("/", detached);
        outlives.emplace(std::move(zk));
    }
    CHECK_FALSE(made.done());
    CHECK_FALSE(connecting.done());
    outlives.reset();
}

TEST_CASE("close: against a stopped server never blocks the loop") {
    server mine(client_server_options());
    boost::asio::io_context context;
    watchdog dog(context);
    run(context, [&]() -> awaitable<void> {
        // One of the clients is suspended in the end, not lost.
        client_options options = quiet_options(mine.hosts(), steady_session_timeout);
        options.close_timeout = 500ms;
        client zk = co_await connected_client(options);
        client destroyed = co_await connected_client(options);
        client suspended = co_await connected_client(options);
        burden b;
        mine.stop();
        b.start(zk, "/");
        co_await let_others_run();
        auto [ec] = co_await zk.close(as_tuple());
        CHECK(ec == errc::session_left_to_expire);
        co_await eventually_async([&] { return b.all_done(); });
        b.check_once();
        { client gone = std::move(destroyed); }
        // One that connects while the server stands still.
        client_options hasty = options;
        hasty.connect_timeout = 3s;
        auto executor = co_await boost::asio::this_coro::executor;
        client late(executor, hasty);
        auto [silent] = co_await late.connect(as_tuple());
        CHECK(silent == errc::server_silent);
        // Its end takes as long as it takes, and not the loop's time.
        auto killed = std::async(std::launch::async, [&] { mine.kill(); });
        auto dead = [&] { return killed.wait_for(0s) == std::future_status::ready; };
        co_await eventually_async(dead);
        killed.get();
        co_await reach(suspended, session_state::suspended);
        auto [left] = co_await suspended.close(as_tuple());
        CHECK(left == errc::session_left_to_expire);
    });
    INFO("longest turn of the loop: " << dog.longest().count() << " ms");
    // Who closes the C client's handle as that wants to blocks for 4.5 s.
    CHECK(dog.longest() < 4s);
}

TEST_CASE("close: connecting and closing again and again leaves nothing") {
    auto connections = connection_count(the_server().port());
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        for (int i = 0; i < 100; ++i) {
            client zk = co_await connected_client(quiet_options(the_hosts()));
            watched_data w = co_await zk.watch_data("/");
            if (i % 2 == 0)
                co_await zk.close();
        }
    });
    run_to_idle(context);
    eventually([&] { return connection_count(the_server().port()) <= connections; });
}

TEST_CASE("close: a hundred clients on one context, all with waiters") {
    boost::asio::io_context context;
    int ends = 0;
    run(context, [&]() -> awaitable<void> {
        std::vector<client> clients;
        for (int i = 0; i < 100; ++i) {
            clients.push_back(co_await connected_client(quiet_options(the_hosts())));
        }
        auto wait = [&ends](client& c) -> awaitable<void> {
            session_status status = c.status();
            for (;;) {
                auto [ec, next] = co_await c.next_status(status, as_tuple());
                if (ec)
                    break;
                status = next;
            }
            ++ends;
        };
        for (client& zk : clients)
            co_spawn(context, wait(zk), detached);
        co_await let_others_run();
        for (client& zk : clients)
            zk.close(detached);
        co_await eventually_async([&] { return ends == 100; });
    });
    run_to_idle(context);
}

}  // namespace corozk::testing::client_tests::client_lifetime_test
