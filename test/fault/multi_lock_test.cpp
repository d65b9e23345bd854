// SPDX-License-Identifier: Apache-2.0
#include "one_acquire.hpp"
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
    client other = co_await engine_client(shared_server().hosts(), steady_session);
    multi_lock next = three_of(other, folder);
    multi_ownership held = co_await next.acquire_for(15s);
    CHECK(held.valid());
    co_await held.release();
    co_await other.close();
    for (const std::string& path : {folder, second(folder), third(folder)})
        co_await corozk::testing::nothing_left(path);
}

bool is_end(const error_code& ec) {
    return is_session_lost(ec) || ec == errc::ownership_lost || ec == errc::not_connected;
}

awaitable<void> whole_life(fault_stage& s) {
    multi_lock m = three_of(s.zk, s.folder);
    pending_result<multi_ownership> asked;
    m.acquire(asked.handler());
    error_code ec = co_await finished(asked);
    CHECK(asked.calls() == 1);
    if (ec) {
        CAPTURE(ec.message());
        CHECK_FALSE(s.survives);
        CHECK(is_end(ec));
        co_return;
    }
    multi_ownership held = std::move(asked.value());
    CHECK(held.parts().size() == 3);
    s.owners.enter(held.parts()[0].held, s.zk.status().session_id);
    if (s.survives)
        CHECK(held.valid());
    pending_result<> released;
    held.release(released.handler());
    ec = co_await finished(released);
    CAPTURE(ec.message());
    CHECK((!ec || (!s.survives && is_end(ec))));
}

/// Holds the first part and waits for the second, which another session has; and then a deadline.
awaitable<void> refused(fault_stage& s) {
    semaphore theirs(s.healthy, second(s.folder), 2);
    ownership one = co_await theirs.acquire();
    multi_lock m = three_of(s.zk, s.folder);
    pending_result<multi_ownership> asked;
    m.try_acquire(asked.handler());
    error_code ec = co_await finished(asked);
    CAPTURE(ec.message());
    CHECK(asked.calls() == 1);
    CHECK((ec == errc::would_block || (!s.survives && is_end(ec))));
    co_await eventually_async([&] { return s.owners.observer().children(s.folder).empty(); });
    CHECK(one.valid());
    co_await one.release();
}

awaitable<void> probe(client&, std::string folder) {
    co_await all_are_free(folder);
}

constexpr const char* somebodys_name = "0123456789abcdef0123456789abcdef-write-";

}  // namespace

TEST_CASE("multi_lock: any fault at any frame, a whole life") {
    fault_at_every_frame(whole_life,
                         probe,
                         {frame_fault::request_dropped,
                          frame_fault::answer_swallowed,
                          frame_fault::cut_after_answer,
                          frame_fault::expired});
}

TEST_CASE("multi_lock: any fault at any frame, refused in the middle") {
    fault_at_every_frame(
        refused,
        probe,
        {frame_fault::request_dropped, frame_fault::answer_swallowed, frame_fault::expired});
}

TEST_CASE("multi_lock: the session lost without a word") {
    fault_at_every_frame(whole_life, probe, {frame_fault::long_hole});
}

TEST_CASE("multi_lock: interrupted after any turn") {
    auto what = GENERATE(interruption::cancel,
                         interruption::destroy_object,
                         interruption::close_client,
                         interruption::destroy_client);
    bool blocked = GENERATE(false, true);
    interrupt_at_every_turn(
        [blocked](client& c, const std::string& folder, owner_registry&) {
            auto start = [](multi_lock& m, auto handler) { m.acquire(std::move(handler)); };
            planted_blocker ahead{third(folder), blocked ? somebodys_name : ""};
            return std::make_unique<one_acquire<multi_lock, multi_ownership>>(
                c, std::make_unique<multi_lock>(three_of(c, folder)), ahead, start);
        },
        probe,
        what);
}

TEST_CASE("multi_lock: cancelled at every frame") {
    cancel_at_every_frame([](fault_run& r, boost::asio::cancellation_slot slot) -> awaitable<void> {
        multi_lock m = three_of(r.zk, r.path);
        auto token = boost::asio::bind_cancellation_slot(slot, as_tuple());
        auto [ec, held] = co_await m.acquire(token);
        CHECK((!ec || ec == boost::asio::error::operation_aborted));
        held = multi_ownership();
        co_await all_are_free(r.path);
    });
}

TEST_CASE("multi_lock: the deadline passes while there is no connection") {
    boost::asio::io_context context;
    fault_proxy proxy(shared_server().port());
    run(context, [&]() -> awaitable<void> {
        client zk = co_await engine_client(proxy.hosts(), 4'000ms);
        client other = co_await engine_client(shared_server().hosts(), steady_session);
        std::string folder = fresh_path();
        shared_lock theirs(other, third(folder));
        ownership blocker = co_await theirs.acquire_read();
        multi_lock m = three_of(zk, folder);
        pending_result<multi_ownership> asked;
        m.acquire_for(1'500ms, asked.handler());
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
            run(*context, engine_client(shared_server().hosts(), steady_session)));
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
