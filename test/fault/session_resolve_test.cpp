// SPDX-License-Identifier: Apache-2.0
// ctest: ALONE
// A name service that does not answer. The C library's look-up is replaced for this program.
#include "client_fixture.hpp"
#include "scripted_names.hpp"
#include <corozk/client.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace corozk::testing::client_tests::session_resolve_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;

TEST_CASE("names: a good one is looked up and used") {
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        std::string port = std::to_string(the_server().port());
        client zk = co_await connected_client(quiet_options("good.test:" + port));
        co_await zk.get("/");
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("names: one without an answer does not keep us from a good address, now or later") {
    boost::asio::io_context context;
    answers_at_end guard;
    fault_proxy proxy(the_server().port());
    names().set(false);
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(new_name("unanswered") + ":2181," +
                                                            proxy.hosts() + "," +
                                                            new_name("unanswered") + ":2181"));
        co_await zk.get("/");
        for (int i = 0; i < 5; ++i) {
            session_status status = zk.status();
            proxy.cut();
            co_await zk.next_status(status);
            co_await reach(zk, session_state::connected);
        }
        CHECK(zk.generation() == 1);
        // Not a queue of look-ups that grows with every reconnect.
        CHECK(names().waiters() <= 2);
        co_await zk.close();
    });
    // Nobody waits for them.
    run_to_idle(context);
    CHECK(names().waiters() <= 2);
}

TEST_CASE("names: of a list that was replaced nothing is waited for, and its answers are ignored") {
    boost::asio::io_context context;
    answers_at_end guard;
    fault_proxy a(the_server().port());
    fault_proxy b(the_server().port());
    // Servers are asked up to a session timeout after a list was replaced.
    constexpr auto patience = 30s;
    run(
        context,
        [&]() -> awaitable<void> {
            client_options options = quiet_options(rooted(a.hosts()));
            options.session_timeout = 6s;
            client zk = co_await connected_client(options);
            session_status before = zk.status();
            names().set(false);
            auto slow = [](fault_proxy& proxy) {
                return rooted(new_name("slow.test") + ":" + std::to_string(proxy.port()));
            };
            auto arrived = [&](fault_proxy& proxy) {
                return proxy.statistics().connections_open == 1 &&
                       zk.state() == session_state::connected;
            };
            co_await zk.set_hosts(slow(b));
            co_await eventually_async([] { return names().waiters() == 1; }, patience);
            CHECK(zk.status().revision == before.revision);
            co_await zk.exists("/");
            co_await zk.set_hosts(rooted(b.hosts()));
            co_await eventually_async([&] { return arrived(b) && !arrived(a); }, patience);
            names().set(true);
            co_await eventually_async([] { return names().waiters() == 0; }, patience);
            co_await zk.exists("/");
            // With a name whose look-up takes long, later.
            names().set(false);
            co_await zk.set_hosts(slow(a));
            co_await eventually_async([] { return names().waiters() == 1; }, patience);
            names().set(true);
            co_await eventually_async([&] { return arrived(a) && !arrived(b); }, patience);
            // The same server under its name: nothing changes.
            before = zk.status();
            co_await zk.set_hosts(rooted("good.test:" + std::to_string(a.port())));
            // Heartbeats for longer than that.
            auto requests = zk.counters().requests;
            co_await eventually_async([&] { return zk.counters().requests >= requests + 5; },
                                      patience);
            CHECK(zk.status().revision == before.revision);
            CHECK(zk.session_id() == before.session_id);
            // Closed while a look-up for a move is pending.
            names().set(false);
            co_await zk.set_hosts(slow(b));
            co_await eventually_async([] { return names().waiters() == 1; }, patience);
            co_await zk.close();
        },
        150s);
    run_to_idle(context);
}

TEST_CASE("names: only one without an answer: connect ends in time") {
    boost::asio::io_context context;
    answers_at_end guard;
    names().set(false);
    run(context, [&]() -> awaitable<void> {
        client_options options = quiet_options(new_name("unanswered") + ":2181");
        options.connect_timeout = 300ms;
        auto executor = co_await boost::asio::this_coro::executor;
        client zk(executor, options);
        auto [ec] = co_await zk.connect(as_tuple());
        CHECK(ec == errc::host_not_found);
        // Closing and destroying do not wait for it either.
        client second(executor, options);
        outcome<> connecting;
        second.connect(connecting.handler());
        co_await let_others_run();
        co_await second.close();
        error_code stopped = co_await connecting.wait();
        CHECK(stopped == errc::closed);
    });
    run_to_idle(context);
    eventually([] { return names().waiters() == 1; });
}

TEST_CASE("names: one without an answer beside a good one: connected as quickly as without it") {
    answers_at_end guard;
    names().set(false);
    std::string port = std::to_string(the_server().port());
    for (int i = 0; i < 10; ++i) {
        boost::asio::io_context context;
        run(context, [&]() -> awaitable<void> {
            client_options options = quiet_options("a.unanswered:2181,good.test:" + port +
                                                   ",b.unanswered:2181,c.unanswered:1");
            options.connect_timeout = 5s;
            client zk = co_await connected_client(options);
            co_await zk.close();
        });
        run_to_idle(context);
    }
    CHECK(names().waiters() <= 3);
}

TEST_CASE("names: contexts and clients are destroyed while a look-up lasts, which then ends") {
    std::string port = std::to_string(the_server().port());
    for (bool close_first : {false, true}) {
        answers_at_end guard;
        names().set(false);
        auto context = std::make_unique<boost::asio::io_context>();
        outcome<> connecting;
        auto zk = std::make_unique<client>(
            context->get_executor(),
            quiet_options(new_name("unanswered") + ":1," + new_name("slow.test") + ":" + port));
        zk->connect(connecting.handler());
        eventually(
            [&] {
                context->poll();
                return names().waiters() == 2;
            },
            20s,
            "the look-ups");
        if (close_first)
            zk.reset();
        context.reset();
        zk.reset();
        CHECK(names().waiters() == 2);
    }
}

TEST_CASE("names: a slow look-up does not keep a session from the addresses that it knows") {
    boost::asio::io_context context;
    answers_at_end guard;
    fault_proxy proxy(the_server().port());
    std::string hosts = proxy.hosts();
    hosts.replace(0, hosts.find(':'), new_name("slow.test"));
    run(context, [&]() -> awaitable<void> {
        names().set(true);
        client zk = co_await connected_client(quiet_options(hosts));
        names().set(false);
        for (int i = 0; i < 3; ++i) {
            session_status status = zk.status();
            proxy.cut();
            co_await zk.next_status(status);
            co_await reach(zk, session_state::connected);
        }
        CHECK(zk.generation() == 1);
        co_await eventually_async([] { return names().waiters() == 1; });
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("names: what is asked in the child of a fork is answered there") {
    answers_at_end guard;
    boost::asio::io_context context;
    names().set(false);
    std::string port = std::to_string(the_server().port());
    outcome<> connecting;
    const std::string name = new_name("slow.test");
    client zk(context.get_executor(), quiet_options(name + ":" + port));
    zk.connect(connecting.handler());
    eventually(
        [&] {
            context.poll();
            return names().waiters() == 1;
        },
        20s,
        "the look-up");
    pid_t pid = ::fork();
    if (pid == 0) {
        names().answers = true;
        boost::asio::io_context own;
        outcome<> connected;
        client again(own.get_executor(), quiet_options(name + ":" + port));
        again.connect(connected.handler());
        while (!connected.done() && own.run_one_for(20s) > 0) {
        }
        ::_exit(connected.done() && !connected.error() ? 0 : 1);
    }
    int status = 0;
    CHECK(::waitpid(pid, &status, 0) == pid);
    CHECK(status == 0);
    names().set(true);
    run(context, [&]() -> awaitable<void> {
        error_code ec = co_await connecting.wait();
        CHECK_FALSE(ec);
        co_await zk.close();
    });
    run_to_idle(context);
}

}  // namespace corozk::testing::client_tests::session_resolve_test
