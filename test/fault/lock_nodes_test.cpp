// SPDX-License-Identifier: Apache-2.0
// Nodes of a lock that others erase, plant or forbid.
#include "lock_scene.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace corozk::testing::lock_nodes_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using boost::asio::awaitable;

namespace {

std::string sequential(std::string_view guid, std::string_view sequence) {
    return std::string(guid) + "-lock-" + std::string(sequence);
}

}  // namespace

TEST_CASE("lock: somebody erases the node of one who holds or waits") {
    play([](scene& s) -> awaitable<void> {
        lock l(s.zk, s.folder);
        ownership held = co_await l.acquire();
        pending_result<error_code> lost;
        held.wait_lost(lost.handler());
        pending_result<ownership> second;
        pending_result<ownership> third;
        l.acquire(second.handler());
        co_await eventually_async([&] { return s.observer.children(s.folder).size() == 2; });
        l.acquire(third.handler());
        co_await eventually_async([&] { return s.observer.children(s.folder).size() == 3; });
        // By creation: sequences tell.
        std::vector<contender_info> line = co_await l.list_contenders();
        REQUIRE(line.size() == 3);
        CHECK(line[0].path == held.path());
        s.observer.erase(line[1].path);  // the one in the middle
        s.observer.erase(line[0].path);  // and the holder
        co_await finished(lost);
        CHECK(lost.value() == errc::ownership_lost);
        CHECK_FALSE(held.valid());
        error_code ec = co_await finished(second);
        CHECK(ec == errc::ownership_lost);
        ec = co_await finished(third);
        CHECK_FALSE(ec);
        CHECK(third.value().valid());
        auto [too_late] = co_await held.release(as_tuple());
        CHECK(too_late == errc::ownership_lost);
        co_await third.value().release();
    });
}

TEST_CASE("lock: the folder goes, and another one takes its place") {
    play([](scene& s) -> awaitable<void> {
        lock l(s.zk, s.folder);
        for (int i = 0; i < 5; ++i) {
            ownership o = co_await l.acquire();
            co_await o.release();
        }
        ownership held = co_await l.acquire();
        std::int64_t token = held.fencing_token();
        pending_result<error_code> lost;
        held.wait_lost(lost.handler());
        pending_result<ownership> waiting;
        l.acquire(waiting.handler());
        co_await eventually_async([&] { return s.observer.children(s.folder).size() == 2; });
        s.observer.erase_recursively(s.folder);
        // Sequences begin again.
        lock theirs(s.healthy, s.folder);
        ownership other = co_await theirs.acquire();
        CHECK(other.fencing_token() > token);
        co_await finished(lost);
        CHECK(lost.value() == errc::ownership_lost);
        error_code ec = co_await finished(waiting);
        CHECK(ec == errc::ownership_lost);
        // Behind the other one, although its sequence is lower than those known before.
        pending_result<ownership> next;
        l.acquire(next.handler());
        co_await eventually_async([&] { return s.observer.children(s.folder).size() == 2; });
        co_await settle(s.zk);
        CHECK_FALSE(next.done());
        CHECK(other.valid());
        std::int64_t theirs_token = other.fencing_token();
        co_await other.release();
        co_await finished(next);
        CHECK(next.good());
        CHECK(next.value().fencing_token() > theirs_token);
        co_await next.value().release();
    });
}

TEST_CASE("lock: consecutive sequences of two folders prove nothing") {
    play([](scene& s) -> awaitable<void> {
        lock l(s.zk, s.folder);
        ownership held = co_await l.acquire();
        s.proxy.arm(at_create(), hold_request());
        pending_result<> released;
        held.release(released.handler());
        pending_result<ownership> next;
        l.acquire(next.handler());
        co_await eventually_async([&] { return s.proxy.statistics().held > 0; });
        co_await eventually_async([&] { return s.observer.children(s.folder).empty(); });
        s.observer.erase_recursively(s.folder);
        std::string other = s.plant();  // the first sequence of the new folder
        CHECK(other.ends_with("0000000000"));
        s.proxy.disarm_all();
        // Ours gets the second one, right behind the one that we released in the old folder.
        co_await eventually_async([&] { return s.observer.children(s.folder).size() == 2; });
        co_await settle(s.zk);
        CHECK_FALSE(next.done());
        s.observer.erase(other);
        co_await finished(next);
        CHECK(next.good());
        co_await next.value().release();
    });
}

TEST_CASE("lock: the folder goes while the node is being created") {
    play([](scene& s) -> awaitable<void> {
        co_await s.zk.ensure_path(s.folder);
        lock l(s.zk, s.folder);
        s.proxy.arm(at_create(), hold_request());
        pending_result<ownership> asked;
        l.acquire(asked.handler());
        co_await eventually_async([&] { return s.proxy.statistics().held > 0; });
        s.observer.erase_recursively(s.folder);
        s.proxy.disarm_all();
        co_await finished(asked);
        CHECK(asked.good());
        co_await asked.value().release();
    });
}

TEST_CASE("lock: foreign nodes in the folder do not matter") {
    play([](scene& s) -> awaitable<void> {
        std::vector<std::string> odd = {"ready",
                                        "lease_holder",
                                        "x",
                                        "-lock-",
                                        some_guid,
                                        some_guid + "-lock-",
                                        some_guid + "-lock-1",
                                        some_guid + "-read-0000000000",
                                        std::string(300, 'y'),
                                        "\xc3\xbc\xe2\x82\xac-lock-0000000000",
                                        "lock-0000000000",
                                        some_guid + "-lock-9999999999",
                                        some_guid + "-lock--9999999999",
                                        sequential(some_guid, "-2147483648")};  // far behind
        for (const std::string& name : odd)
            s.observer.plant(s.folder + "/" + name);
        lock l(s.zk, s.folder);
        pending_result<ownership> first;
        pending_result<ownership> second;
        l.acquire(first.handler());
        l.acquire(second.handler());
        co_await finished(first);
        REQUIRE(first.good());
        std::vector<contender_info> line = co_await l.list_contenders();
        CHECK(line.size() == 3);
        CHECK_FALSE(second.done());
        co_await first.value().release();
        co_await finished(second);
        CHECK(second.good());
        co_await second.value().release();
        for (const std::string& name : odd)
            CHECK(s.observer.erase(s.folder + "/" + name));
    });
}

TEST_CASE("lock: a planted place at the far end hides nobody in between") {
    play([](scene& s) -> awaitable<void> {
        std::string far = s.observer.plant(s.folder + "/" + sequential(some_guid, "2147483647"));
        lock l(s.zk, s.folder);
        ownership held = co_await l.acquire();
        CHECK(held.valid());
        std::string between = s.plant("11111111111111111111111111111111-lock-");
        pending_result<ownership> next;
        l.acquire(next.handler());
        co_await eventually_async([&] { return s.observer.children(s.folder).size() == 4; });
        co_await held.release();
        co_await settle(s.zk);
        CHECK_FALSE(next.done());
        s.observer.erase(between);
        co_await finished(next);
        CHECK(next.good());
        co_await next.value().release();
        s.observer.erase(far);
    });
}

TEST_CASE("lock: a planted place before all others is waited for") {
    play([](scene& s) -> awaitable<void> {
        // As it would be written shortly before the counter comes to 0 again.
        std::string before = s.observer.plant(s.folder + "/" + sequential(some_guid, "-000000005"));
        lock l(s.zk, s.folder);
        auto [ec, nothing] = co_await l.try_acquire(as_tuple());
        CHECK(ec == errc::would_block);
        pending_result<ownership> asked;
        l.acquire(asked.handler());
        co_await eventually_async([&] { return s.zk.counters().watches > 0; });
        CHECK_FALSE(asked.done());
        s.observer.erase(before);
        co_await finished(asked);
        CHECK(asked.good());
        co_await asked.value().release();
    });
}

TEST_CASE("lock: two planted nodes with our own place") {
    play([](scene& s) -> awaitable<void> {
        // The folder's first sequence, twice, before we get it.
        std::string one = s.observer.plant(s.folder + "/" + sequential(some_guid, "0000000002"));
        std::string two = s.observer.plant(
            s.folder + "/" + sequential("22222222222222222222222222222222", "0000000002"));
        lock l(s.zk, s.folder);
        pending_result<ownership> asked;
        l.acquire(asked.handler());
        co_await eventually_async([&] { return s.observer.children(s.folder).size() == 3; });
        co_await settle(s.zk);
        CHECK_FALSE(asked.done());
        s.observer.erase(one);
        co_await settle(s.zk);
        CHECK_FALSE(asked.done());
        s.observer.erase(two);
        co_await finished(asked);
        CHECK(asked.good());
        co_await asked.value().release();
    });
}

TEST_CASE("lock: a predecessor that we may not read") {
    play([](scene& s) -> awaitable<void> {
        co_await s.zk.ensure_path(s.folder);
        std::vector<corozk::testing::acl_entry> unreadable(1);
        unreadable[0].permissions = 8;
        std::string other = s.observer.plant(
            s.folder + "/" + some_guid + "-lock-", {}, node_kind::ephemeral_sequential, unreadable);
        lock l(s.zk, s.folder);
        pending_result<ownership> asked;
        l.acquire(asked.handler());
        co_await eventually_async([&] { return s.zk.counters().watches > 0; });
        std::uint64_t requests = s.zk.counters().requests;
        co_await settle(s.zk);
        CHECK(s.zk.counters().requests <= requests + 12);  // it does not ask again and again
        s.observer.erase(other);
        co_await finished(asked);
        CHECK(asked.good());
        co_await asked.value().release();
    });
}

TEST_CASE("lock: a watch that has not been set again yet proves nothing") {
    // More paths than one packet may name: those of the first kind are set again later, one by one.
    constexpr std::size_t many = 1'500;
    scene s(shared_server().port());
    client_options options = options_for(s.proxy.hosts());
    options.session_timeout = steady_session;
    options.max_request_size = 4'096;
    run(
        s.context,
        [&]() -> awaitable<void> {
            s.healthy = co_await connect_to(shared_server().hosts(), steady_session);
            auto executor = co_await boost::asio::this_coro::executor;
            s.zk = co_await client::connect(executor, options);
            std::string place = fresh_path();
            auto name = [&](std::string_view kind, std::size_t i) {
                return place + "/" + std::string(kind) + std::to_string(i);
            };
            co_await s.zk.create(place);
            std::vector<watched_data> data;
            std::vector<watched_stat> missing;
            for (std::size_t i = 0; i < many; ++i) {
                co_await s.healthy.create(name("a", i));
                data.push_back(co_await s.zk.watch_data(name("a", i)));
            }
            for (std::size_t i = 0; i < many / 3; ++i)
                missing.push_back(co_await s.zk.watch_exists(name("missing", i)));
            // Behind all of them.
            lock mine(s.zk, place + "/z");
            ownership held = co_await mine.acquire();
            pending_result<ownership> second;
            mine.acquire(second.handler());
            co_await eventually_async(
                [&] { return s.observer.children(place + "/z").size() == 2; });
            lock theirs(s.healthy, place + "/z");
            pending_result<ownership> third;
            theirs.acquire(third.handler());
            std::vector<contender_info> line;
            while (line.size() < 3)
                line = co_await theirs.list_contenders();
            std::uint64_t watches = many + many / 3 + 2;
            co_await eventually_async([&] { return s.zk.counters().watches >= watches; });

            s.proxy.set_acceptance(acceptance::not_listening);
            s.proxy.cut();
            session_status status = s.zk.status();
            while (status.state == session_state::connected)
                status = co_await s.zk.next_status(status);
            s.observer.erase(line[1].path);
            s.proxy.set_acceptance(acceptance::normal);
            while (status.state != session_state::connected)
                status = co_await s.zk.next_status(status);
            co_await held.release();
            co_await finished(third);
            REQUIRE(third.good());
            CHECK(co_await finished(second) == errc::ownership_lost);
            CHECK(third.value().valid());
            co_await third.value().release();
            co_await s.zk.close();
            co_await s.healthy.close();
        },
        std::chrono::seconds(120));
    run_to_idle(s.context);
}

TEST_CASE("lock: tries without a pause see that the other one has gone") {
    play([](scene& s) -> awaitable<void> {
        std::string other = s.plant();
        lock l(s.zk, s.folder);
        auto [first, none] = co_await l.try_acquire(as_tuple());
        CHECK(first == errc::would_block);
        s.observer.erase(other);
        ownership held;
        int tries = 0;
        while (!held && ++tries < 50) {
            auto [ec, o] = co_await l.try_acquire(as_tuple());
            if (!ec)
                held = std::move(o);
        }
        CHECK(held.valid());
        co_await held.release();
    });
}

}  // namespace corozk::testing::lock_nodes_test
