// SPDX-License-Identifier: Apache-2.0
// What an operation allocates for a handler comes from the handler's allocator, and is freed before
// the handler is called, or when it is dropped. Under the address sanitizer this also shows that the
// allocator is not used later.
#include "client_fixture.hpp"
#include "early_operations.hpp"
#include "every_operation.hpp"
#include <corozk/tracer.hpp>

#include <boost/asio/bind_executor.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <memory_resource>
#include <optional>

namespace corozk::testing::client_tests::handler_allocator_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;

namespace {

/// For the erased handler, and for its result.
constexpr int blocks_per_call = 2;

awaitable<void> all_called(const tracked_handlers& handlers) {
    try {
        co_await eventually_async([&] { return handlers.all_called(); });
    } catch (const timeout_error&) {
        for (const auto& h : handlers.all()) {
            if (h->calls == 0)
                FAIL_CHECK(h->operation << " has not ended");
        }
    }
    for (const auto& h : handlers.all()) {
        INFO(h->operation);
        CHECK(h->blocks == blocks_per_call);
        CHECK(h->live_blocks == 0);
        CHECK(h->called_in_time);
        CHECK(h->calls == 1);
    }
}

void check_freed(const tracked_handlers& handlers) {
    for (const auto& h : handlers.all()) {
        INFO(h->operation);
        CHECK(h->blocks > 0);
        CHECK(h->live_blocks == 0);
        CHECK(h->called_in_time);
    }
}

struct tracing final : tracer {
    tracing() { set_tracer(this); }
    ~tracing() override { set_tracer(nullptr); }
    std::uint64_t started(const trace_point&) noexcept override { return 1; }
    void finished(std::uint64_t, const error_code&) noexcept override {}
};

}  // namespace

TEST_CASE("handler allocators: every operation of the client and of the recipes") {
    for (bool traced : {false, true}) {
        std::optional<tracing> on;
        if (traced)
            on.emplace();
        with_client([](client& zk, std::string path) -> awaitable<void> {
            early_operations asked(zk, path + "/x");
            asked.ask_all();
            co_await all_called(asked.handlers());
            CHECK(asked.handlers().all().size() > 50);
        });
    }
}

TEST_CASE("handler allocators: refusals") {
    with_client([](client& zk, std::string) -> awaitable<void> {
        every_operation refused(zk, "relative");
        refused.ask_all();
        co_await all_called(refused.handlers());
        tracked_handlers early;
        // Without a client they would run on a thread of Asio's.
        auto tracked = [&](const char* operation) {
            return boost::asio::bind_executor(zk.get_executor(), early.track(operation));
        };
        client().get("/", tracked("get"));
        watch().next(tracked("watch.next"));
        lock().acquire(tracked("lock.acquire"));
        ownership().release(tracked("ownership.release"));
        co_await all_called(early);
    });
}

TEST_CASE("handler allocators: cancelled before there is a connection") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    proxy.set_acceptance(acceptance::not_listening);
    run(context, [&]() -> awaitable<void> {
        client_options options = quiet_options(rooted(proxy.hosts()));
        options.connect_timeout = 0ms;
        client zk(co_await boost::asio::this_coro::executor, options);
        tracked_handlers own;
        zk.connect(own.track("connect"));
        zk.next_status(zk.status(), own.track("next_status"));
        early_operations asked(zk, fresh_path());
        asked.ask_all();
        asked.ask_limited(1h);
        co_await let_others_run();
        CHECK(asked.ended() == 0);
        asked.handlers().cancel();
        co_await all_called(asked.handlers());
        for (const auto& [operation, ec] : asked.answers()) {
            INFO(operation);
            CHECK(ec == boost::asio::error::operation_aborted);
        }
        co_await zk.close(as_tuple());
        co_await all_called(own);
    });
    run_to_idle(context);
}

TEST_CASE("handler allocators: cancelled in flight, and at the deadline") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        tracked_handlers handlers;
        lock l(zk, path + "/lock");
        rule_id rule = proxy.arm(at_op(testing::op_code::get_data), hold_request());
        zk.get(path, handlers.track("get"));
        zk.set(path, "x", any_version, handlers.track("set"));
        zk.watch_data(path, handlers.track("watch_data"));
        l.acquire(handlers.track("lock.acquire"));
        l.acquire_for(1ms, handlers.track("lock.acquire_for"));
        co_await eventually_async([&] { return proxy.fired(rule) == 1; });
        handlers.cancel();
        co_await all_called(handlers);
        proxy.release(rule);
        co_await zk.sync();
    });
}

TEST_CASE("handler allocators: watches and ownerships") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        tracked_handlers handlers;
        watch fires = (co_await zk.watch_data(path)).changed;
        watch ends = (co_await zk.watch_children(path)).changed;
        lock l(zk, path + "/lock");
        ownership held = co_await l.acquire();
        fires.next(handlers.track("watch.next, fired"));
        ends.next(handlers.track("watch.next, destroyed"));
        held.wait_lost(handlers.track("wait_lost"));
        l.acquire(handlers.track("lock.acquire, waiting"));
        co_await zk.set(path, "x");
        ends = watch();
        held.release(handlers.track("release"));
        co_await all_called(handlers);
    });
}

TEST_CASE("handler allocators: an upgrade, for which another handler is made of the user's") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        tracked_handlers handlers;
        shared_lock l(zk, path);
        ownership held = co_await l.acquire_read();
        l.upgrade(held, handlers.track("upgrade"));
        co_await eventually_async([&] { return handlers.all_called(); });
        CHECK(held.path().find("-write-") != std::string::npos);
        check_freed(handlers);
        CHECK(handlers.all().front()->blocks == blocks_per_call + 1);
    });
}

TEST_CASE("handler allocators: a handler with an executor of its own") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        boost::asio::io_context other;
        auto work = boost::asio::make_work_guard(other);
        tracked_handlers handlers;
        zk.get(path, boost::asio::bind_executor(other.get_executor(), handlers.track("get")));
        zk.get("bad", boost::asio::bind_executor(other.get_executor(), handlers.track("bad")));
        co_await zk.sync();
        co_await eventually_async([&] {
            other.poll();
            return handlers.all_called();
        });
        co_await all_called(handlers);
    });
}

TEST_CASE("handler allocators: a context is destroyed with everything pending") {
    the_hosts();
    for (bool traced : {false, true}) {
        for (bool connected : {false, true}) {
            INFO("connected: " << connected << ", traced: " << traced);
            std::optional<tracing> on;
            if (traced)
                on.emplace();
            fault_proxy proxy(the_server().port());
            // Outlive the context, as do the allocators.
            tracked_handlers own;
            std::optional<early_operations> asked;
            std::optional<every_operation> refused;
            std::optional<client> zk;
            {
                boost::asio::io_context context;
                if (!connected)
                    proxy.set_acceptance(acceptance::not_listening);
                zk.emplace(context.get_executor(), quiet_options(rooted(proxy.hosts())));
                zk->connect(own.track("connect"));
                while (connected && !own.all_called())
                    context.run_one();
                proxy.black_hole(connected);
                asked.emplace(*zk, fresh_path());
                asked->ask_all();
                asked->ask_limited(1h);
                context.poll();
                refused.emplace(*zk, "relative");
                refused->ask_all();
                zk->next_status(zk->status(), own.track("next_status"));
            }
            check_freed(own);
            check_freed(asked->handlers());
            check_freed(refused->handlers());
            CHECK(refused->answers().empty());
        }
    }
}

TEST_CASE("handler allocators: memory of a fixed size") {
    std::byte memory[1024];
    std::pmr::monotonic_buffer_resource resource(
        memory, sizeof memory, std::pmr::null_memory_resource());
    std::pmr::polymorphic_allocator<> allocator(&resource);
    with_client([&](client& zk, std::string path) -> awaitable<void> {
        bool read = false;
        zk.get(path, boost::asio::bind_allocator(allocator, [&](error_code ec, node_data) {
                   CHECK_FALSE(ec);
                   read = true;
               }));
        co_await eventually_async([&] { return read; });
    });
}

}  // namespace corozk::testing::client_tests::handler_allocator_test
