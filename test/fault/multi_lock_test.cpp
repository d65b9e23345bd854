// SPDX-License-Identifier: Apache-2.0
#include "lock_scene.hpp"
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/multi_lock.hpp>
#include <corozk/recipe/semaphore.hpp>
#include <corozk/recipe/shared_lock.hpp>

namespace corozk::testing::multi_lock_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

/// The parts of all tests: a folder that the engine looks after, and two beside it.
std::string second(const std::string& folder) {
    return folder + "-semaphore";
}
std::string third(const std::string& folder) {
    return folder + "-shared";
}

multi_lock three_of(client& c, const std::string& folder) {
    multi_lock m(c);
    lock a(c, folder);
    semaphore b(c, second(folder), 2);
    shared_lock d(c, third(folder));
    m.add_write(d).add(b, 2).add(a);
    return m;
}

/// Somebody else can take everything, and then nothing is left.
awaitable<void> all_are_free(const std::string& folder) {
    client other = co_await connect_to(shared_server().hosts(), steady_session);
    multi_lock next = three_of(other, folder);
    multi_ownership held = co_await next.acquire_for(15s);
    CHECK(held.valid());
    co_await held.release();
    co_await other.close();
    for (const std::string& path : {folder, second(folder), third(folder)})
        co_await corozk::testing::nothing_left(path);
}

}  // namespace

TEST_CASE("multi_lock: the deadline passes while there is no connection") {
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connect_to(proxy.hosts(), steady_session);
        client other = co_await connect_to(shared_server().hosts(), steady_session);
        std::string folder = fresh_path();
        shared_lock theirs(other, third(folder));
        ownership blocker = co_await theirs.acquire_read();
        multi_lock m = three_of(zk, folder);
        pending_result<multi_ownership> asked;
        m.acquire_for(5s, asked.handler());
        co_await eventually_async([&] { return observer().children(third(folder)).size() == 2; });
        proxy.black_hole(true);
        CHECK(co_await finished(asked) == errc::deadline_exceeded);
        proxy.black_hole(false);
        co_await blocker.release();
        co_await all_are_free(folder);
        co_await zk.close();
        co_await other.close();
    });
    run_to_idle(context);
}

TEST_CASE("multi_lock: parents erased while it holds and while it waits") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        multi_lock m = three_of(zk, path);
        multi_ownership held = co_await m.acquire();
        multi_lock too = three_of(zk, path);  // two objects in one session
        pending_result<multi_ownership> waiting;
        too.acquire(waiting.handler());
        co_await eventually_async([&] { return observer().children(path).size() == 2; });
        co_await settle(zk);
        CHECK_FALSE(waiting.done());
        observer().erase_recursively(path);
        auto [reason, which] = co_await held.wait_lost();
        CHECK(reason == errc::ownership_lost);
        CHECK(which == path);
        CHECK(co_await finished(waiting) == errc::ownership_lost);
        held = multi_ownership();
        co_await all_are_free(path);
        co_await other.close();
    });
}

TEST_CASE("multi_lock: the context goes first") {
    for (int k = 0; k < 12; ++k) {
        auto context = std::make_unique<boost::asio::io_context>();
        auto zk = std::make_unique<client>(
            run(*context, connect_to(shared_server().hosts(), steady_session)));
        std::string folder = fresh_path();
        multi_lock m = three_of(*zk, folder);
        int calls = 0;
        m.acquire([&calls](error_code, multi_ownership) { ++calls; });
        context->restart();
        for (int i = 0; i < 4 * k; ++i)
            context->run_one_for(20ms);
        context.reset();
        CHECK(calls <= 1);
        zk.reset();
    }
}

}  // namespace corozk::testing::multi_lock_test
