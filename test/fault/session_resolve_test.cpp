// SPDX-License-Identifier: Apache-2.0
// ctest: ALONE
// A name service that does not answer. The C library's look-up is replaced for this program.
#include "client_fixture.hpp"
#include <corozk/client.hpp>

#include <catch2/catch.hpp>

#include <condition_variable>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <netdb.h>
#include <string>

namespace corozk::testing::client_tests::session_resolve_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;

namespace {

/// Look-ups of names below ".unanswered" wait until they are let go; "good.test" is this machine.
struct name_service {
    std::mutex mutex;
    std::condition_variable changed;
    bool answers = true;
    int waiting = 0;
    int asked = 0;

    void set(bool on) {
        std::lock_guard lock(mutex);
        answers = on;
        changed.notify_all();
    }
    int waiters() {
        std::lock_guard lock(mutex);
        return waiting;
    }
};

name_service& names() {
    static name_service instance;
    return instance;
}

/// Nobody can leave a scope with a look-up that waits: the context's destructor would wait for it.
struct answers_at_end {
    ~answers_at_end() { names().set(true); }
};

}  // namespace

extern "C" int getaddrinfo(const char* node,
                           const char* service,
                           const addrinfo* hints,
                           addrinfo** result) {
    using function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
    static auto original = reinterpret_cast<function>(dlsym(RTLD_NEXT, "getaddrinfo"));
    if (node && std::strcmp(node, "good.test") == 0)
        node = "127.0.0.1";
    if (node && std::strstr(node, ".unanswered")) {
        name_service& n = names();
        std::unique_lock lock(n.mutex);
        ++n.asked;
        ++n.waiting;
        n.changed.wait(lock, [&n] { return n.answers; });
        --n.waiting;
        return EAI_AGAIN;
    }
    return original(node, service, hints, result);
}

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
        client zk = co_await connected_client(
            quiet_options("a.unanswered:2181," + proxy.hosts() + ",b.unanswered:2181"));
        co_await zk.get("/");
        for (int i = 0; i < 5; ++i) {
            session_status status = zk.status();
            proxy.cut();
            co_await zk.next_state(status);
            co_await reach(zk, session_state::connected);
        }
        CHECK(zk.generation() == 1);
        // Not a queue of look-ups that grows with every reconnect.
        CHECK(names().waiters() <= 1);
        co_await zk.close();
    });
    names().set(true);
    run_to_idle(context);
    CHECK(names().asked <= 4);
}

TEST_CASE("names: only one without an answer: connect ends in time") {
    boost::asio::io_context context;
    answers_at_end guard;
    names().set(false);
    run(context, [&]() -> awaitable<void> {
        client_options options = quiet_options("a.unanswered:2181");
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
    names().set(true);
    run_to_idle(context);
}

}  // namespace corozk::testing::client_tests::session_resolve_test
