// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/multi_lock.hpp>
#include <corozk/recipe/semaphore.hpp>
#include <corozk/recipe/shared_lock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <random>

namespace corozk::testing::multi_lock_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

std::size_t nodes_in(const std::string& path) {
    return observer().children(path).size();
}

awaitable<void> gone(const std::string& path) {
    co_await eventually_async([&] { return nodes_in(path) == 0; });
}

}  // namespace

TEST_CASE("multi_lock: a mix of everything, all or nothing, in one object") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        lock a(zk, path + "/a");
        shared_lock b(zk, path + "/b");
        shared_lock c(zk, path + "/c");
        semaphore d(zk, path + "/d", 3);
        multi_lock all(zk);
        // In any order.
        all.add(d, 2).add_write(c).add(a).add_read(b);
        std::vector<std::string> in_order{path + "/a", path + "/b", path + "/c", path + "/d"};
        CHECK(all.paths() == in_order);
        multi_ownership held = co_await all.acquire();
        CHECK(held);
        CHECK(held.valid());
        REQUIRE(held.parts().size() == 4);
        std::int64_t last = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            const multi_part& part = held.parts()[i];
            CHECK(part.path == in_order[i]);
            CHECK(part.held.valid());
            auto record = observer().stat(part.held.path());
            REQUIRE(record);
            CHECK(record->czxid == part.held.fencing_token());
            CHECK(record->ephemeral_owner == zk.session_id());
            CHECK(held.fencing_token(part.path) == part.held.fencing_token());
            CHECK(part.held.fencing_token() > last);  // acquired in this order
            last = part.held.fencing_token();
            CHECK(nodes_in(part.path) == 1);
        }
        CHECK(held.find(path + "/b") == &held.parts()[1].held);
        CHECK(held.find(path + "/x") == nullptr);
        CHECK(held.fencing_token(path + "/x") == 0);
        CHECK(co_await d.count_available() == 1);
        ownership reader = co_await b.try_acquire_read();
        auto [no_write, nothing] = co_await c.try_acquire_read(as_tuple());
        CHECK(no_write == errc::would_block);
        co_await reader.release();
        co_await held.release();
        CHECK_FALSE(held);
        CHECK_FALSE(held.valid());
        for (const std::string& p : in_order)
            CHECK(nodes_in(p) == 0);
        // Dropped instead.
        held = co_await all.acquire();
        held = multi_ownership();
        for (const std::string& p : in_order)
            co_await gone(p);
    });
}

TEST_CASE("multi_lock: a path named twice is refused, and so are no parts and strangers") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        lock a(zk, path + "/a");
        semaphore b(zk, path + "/b", 3);
        multi_lock twice(zk);
        twice.add(b).add(a).add(b, 2);
        auto [ec, none] = co_await twice.acquire(as_tuple());
        CHECK(ec == errc::would_deadlock);
        CHECK_FALSE(observer().exists(path));  // nothing was asked for
        multi_lock empty(zk);
        auto [no_parts, none2] = co_await empty.acquire(as_tuple());
        CHECK(no_parts == errc::bad_option);
        lock theirs(other, path + "/c");
        multi_lock mixed(zk);
        mixed.add(a).add(theirs);
        auto [strangers, none3] = co_await mixed.acquire(as_tuple());
        CHECK(strangers == errc::bad_option);
        multi_lock bad(zk);
        lock relative(zk, "relative");
        bad.add(a).add(relative);
        auto [bad_path, none4] = co_await bad.acquire(as_tuple());
        CHECK(bad_path == errc::bad_path);
        co_await gone(path + "/a");
        CHECK_FALSE(observer().exists(path + "/c"));
        co_await other.close();
        multi_lock closed(other);
        closed.add(theirs);
        auto [no_client, none5] = co_await closed.acquire(as_tuple());
        CHECK(no_client == errc::closed);
    });
}

TEST_CASE("multi_lock: the first failure gives everything back before the call completes") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        lock a(zk, path + "/a");
        lock b(zk, path + "/b");
        lock c(zk, path + "/c");
        multi_lock all(zk);
        all.add(c).add(b).add(a);
        lock theirs(other, path + "/b");
        ownership held = co_await theirs.acquire();
        // The try form.
        auto [refused, none] = co_await all.try_acquire(as_tuple());
        CHECK(refused == errc::would_block);
        CHECK(nodes_in(path + "/a") == 0);
        CHECK(nodes_in(path + "/b") == 1);
        CHECK_FALSE(observer().exists(path + "/c"));
        // The deadline over all.
        auto [late, none2] = co_await all.acquire_for(50ms, as_tuple());
        CHECK(late == errc::deadline_exceeded);
        co_await eventually_async([&] { return nodes_in(path + "/a") == 0; });
        co_await eventually_async([&] { return nodes_in(path + "/b") == 1; });
        // A part that can never be had.
        semaphore few(zk, path + "/z", 2);
        multi_lock too_many(zk);
        too_many.add(few, 3).add(a);
        auto [impossible, none3] = co_await too_many.acquire(as_tuple());
        CHECK(impossible == errc::bad_option);
        CHECK(nodes_in(path + "/a") == 0);
        // What was granted is lost while the next part is waited for.
        pending_result<multi_ownership> asked;
        all.acquire(asked.handler());
        co_await eventually_async([&] { return nodes_in(path + "/b") == 2; });
        observer().erase(path + "/a/" + observer().children(path + "/a").front());
        CHECK(co_await finished(asked) == errc::ownership_lost);
        co_await eventually_async([&] { return nodes_in(path + "/b") == 1; });
        CHECK(held.valid());
        co_await held.release();
        multi_ownership everything = co_await all.try_acquire();
        CHECK(everything.valid());
        co_await everything.release();
        co_await other.close();
    });
}

TEST_CASE("multi_lock: the loss of one part is told, with its path") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        lock a(zk, path + "/a");
        shared_lock b(zk, path + "/b");
        multi_lock both(zk);
        both.add(a).add_write(b);
        multi_ownership held = co_await both.acquire();
        pending_result<error_code> other;
        auto [reason, which] = std::pair<error_code, std::string>();
        bool told = false;
        held.wait_lost([&](error_code ec, error_code why, std::string path_of_part) {
            CHECK(!ec);
            reason = why;
            which = std::move(path_of_part);
            told = true;
        });
        co_await settle(zk);
        held.parts()[0].held.wait_lost(other.handler());
        observer().erase(held.parts()[1].held.path());
        co_await eventually_async([&] { return told; });
        CHECK(reason == errc::ownership_lost);
        CHECK(which == path + "/b");
        CHECK_FALSE(held.valid());
        CHECK(held.parts()[0].held.valid());
        CHECK_FALSE(other.done());
        // Asked again: the same answer.
        auto [again, path_again] = co_await held.wait_lost();
        CHECK(again == errc::ownership_lost);
        CHECK(path_again == path + "/b");
        auto [ec] = co_await held.release(as_tuple());
        CHECK(ec == errc::ownership_lost);
        co_await gone(path + "/a");
        co_await gone(path + "/b");
        // Released: whoever waits for a loss is told so, once.
        held = co_await both.acquire();
        pending_result<> released;
        int calls = 0;
        error_code end;
        held.wait_lost([&](error_code e, error_code, std::string) {
            end = e;
            ++calls;
        });
        co_await settle(zk);
        co_await held.release();
        co_await eventually_async([&] { return calls > 0; });
        CHECK(end == boost::asio::error::operation_aborted);
        CHECK(calls == 1);
        auto [nothing, why_nothing, no_path] = co_await held.wait_lost(as_tuple());
        CHECK(nothing == errc::ownership_lost);
    });
}

TEST_CASE("multi_lock: waiting for a loss can be cancelled and loses none") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        lock a(zk, path + "/a");
        multi_lock one(zk);
        one.add(a);
        multi_ownership held = co_await one.acquire();
        boost::asio::cancellation_signal cancel;
        error_code end;
        int calls = 0;
        held.wait_lost(boost::asio::bind_cancellation_slot(
            cancel.slot(), [&](error_code e, error_code, std::string) {
                end = e;
                ++calls;
            }));
        co_await settle(zk);
        cancel.emit(boost::asio::cancellation_type::total);
        co_await eventually_async([&] { return calls > 0; });
        CHECK(end == boost::asio::error::operation_aborted);
        observer().erase(held.parts()[0].held.path());
        auto [reason, which] = co_await held.wait_lost();
        CHECK(reason == errc::ownership_lost);
        CHECK(which == path + "/a");
    });
}

TEST_CASE("multi_lock: guarded writes check every part") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        lock a(zk, path + "/a");
        lock b(zk, path + "/b");
        multi_lock both(zk);
        both.add(a).add(b);
        multi_ownership held = co_await both.acquire();
        transaction good;
        good.create(path + "/written", "1");
        auto results = co_await held.commit(good);
        REQUIRE(results.size() == 1);
        CHECK(results[0].path == path + "/written");
        transaction refused;
        refused.set(path + "/written", "2", 7);
        auto [version, version_results] = co_await held.commit(refused, as_tuple());
        CHECK(version == zk_errc::bad_version);
        REQUIRE(version_results.size() == 1);
        CHECK(version_results[0].error == zk_errc::bad_version);
        observer().erase(held.parts()[1].held.path());
        transaction late;
        late.set(path + "/written", "3");
        auto [ec, late_results] = co_await held.commit(late, as_tuple());
        CHECK(ec == errc::ownership_lost);
        CHECK(observer().data(path + "/written") == "1");
    });
}

TEST_CASE("multi_lock: run gives back, and is cancelled by the loss of one part") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        lock a(zk, path + "/a");
        lock b(zk, path + "/b");
        multi_lock both(zk);
        both.add(b).add(a);
        auto sum = [](multi_ownership& held) -> awaitable<std::size_t> {
            co_return held.parts().size();
        };
        CHECK(co_await both.run(sum) == 2);
        CHECK(nodes_in(path + "/a") == 0);
        bool cancelled = false;
        auto wait = [&](multi_ownership& held) -> awaitable<void> {
            observer().erase(held.parts()[1].held.path());
            boost::asio::steady_timer forever(co_await boost::asio::this_coro::executor, 1h);
            auto [ec] = co_await forever.async_wait(as_tuple());
            cancelled = ec == boost::asio::error::operation_aborted;
        };
        error_code thrown;
        try {
            co_await both.run(wait);
        } catch (const error& failure) {
            thrown = failure.code();
        }
        CHECK(thrown == errc::ownership_lost);
        CHECK(cancelled);
        co_await gone(path + "/a");
    });
}

TEST_CASE("multi_lock: many participants with random selections: no overlap, all are served") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        std::vector<int> inside(6, 0);
        int served = 0;
        std::mt19937 random(7);
        auto executor = co_await boost::asio::this_coro::executor;
        auto take = [&](client& c, std::vector<int> wanted) -> awaitable<void> {
            multi_lock m(c);
            std::vector<lock> locks;
            for (int i : wanted)
                locks.emplace_back(c, path + "/" + std::to_string(i));
            for (const lock& l : locks)
                m.add(l);
            multi_ownership held = co_await m.acquire();
            for (int i : wanted)
                CHECK(++inside[static_cast<std::size_t>(i)] == 1);
            co_await settle(c);
            for (int i : wanted)
                --inside[static_cast<std::size_t>(i)];
            co_await held.release();
            ++served;
        };
        for (int i = 0; i < 40; ++i) {
            std::vector<int> all{0, 1, 2, 3, 4, 5};
            std::shuffle(all.begin(), all.end(), random);
            all.resize(random() % 4 + 1);
            boost::asio::co_spawn(executor,
                                  take(i % 2 ? zk : other, all),
                                  [](std::exception_ptr failure) { CHECK(!failure); });
        }
        co_await eventually_async([&] { return served == 40; }, 25s);
        for (int i = 0; i < 6; ++i)
            co_await gone(path + "/" + std::to_string(i));
        co_await other.close();
    });
}

TEST_CASE("multi_lock: one part that is known to be lost is enough to refuse a guarded write") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        lock a(zk, path + "/a");
        semaphore b(zk, path + "/b", 2);
        multi_lock both(zk);
        both.add(a).add(b);
        multi_ownership held = co_await both.acquire();
        std::string node = held.parts()[1].held.path();
        pending_result<error_code> lost;
        held.parts()[1].held.wait_lost(lost.handler());
        co_await eventually_async([&] { return watch_count(shared_server().port()) > 0; });
        while (!lost.done()) {
            observer().erase(node);
            observer().plant(node, "");
            co_await settle(zk);
        }
        transaction late;
        late.create(path + "/written", "late");
        auto [ec, results] = co_await held.commit(late, as_tuple());
        CHECK(ec == errc::ownership_lost);
        CHECK_FALSE(observer().exists(path + "/written"));
        observer().erase(node);
    });
}

}  // namespace corozk::testing::multi_lock_test
