// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/contention_inspector.hpp>
#include <corozk/recipe/election.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/priority_lock.hpp>
#include <corozk/recipe/semaphore.hpp>
#include <corozk/recipe/shared_lock.hpp>

namespace corozk::testing::contention_inspector_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

/// One that holds, one that waits: both are seen, and the holder's end lets the other one proceed.
awaitable<void> seen_and_broken(client& zk,
                                std::string path,
                                ownership& held,
                                pending_result<ownership>& waiting) {
    contention_inspector line(zk, path);
    std::vector<contender_info> found;
    while (found.size() < 2)
        found = co_await line.list_contenders();
    REQUIRE(found.size() == 2);
    CHECK(found[0].holds);
    CHECK_FALSE(found[1].holds);
    CHECK(found[1].waits_for == std::vector<std::string>{found[0].path});
    CHECK(found[0].session_id == zk.session_id());
    co_await line.break_contender(found[0].path);
    error_code why = co_await held.wait_lost();
    CHECK(why == errc::ownership_lost);
    co_await eventually_async([&] { return waiting.calls() == 1; }, 20s, "the next one");
    CHECK_FALSE(waiting.error());
    auto [ec] = co_await line.break_contender(found[0].path, as_tuple());
    CHECK(ec == zk_errc::no_node);
}

}  // namespace

TEST_CASE("contention_inspector: sees and breaks the contenders of every recipe that queues") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        pending_result<ownership> next[5];
        lock l(zk, path + "/lock");
        ownership a = co_await l.acquire();
        l.acquire(next[0].handler());
        co_await seen_and_broken(zk, path + "/lock", a, next[0]);
        shared_lock s(zk, path + "/shared");
        ownership b = co_await s.acquire_write();
        s.acquire_read(next[1].handler());
        co_await seen_and_broken(zk, path + "/shared", b, next[1]);
        semaphore p(zk, path + "/semaphore", 2);
        ownership c = co_await p.acquire(2);
        p.acquire(1, next[2].handler());
        co_await seen_and_broken(zk, path + "/semaphore", c, next[2]);
        election e(zk, path + "/election");
        ownership d = co_await e.campaign();
        e.campaign(next[3].handler());
        co_await seen_and_broken(zk, path + "/election", d, next[3]);
        priority_lock r(zk, path + "/priority");
        ownership f = co_await r.acquire(1);
        r.acquire(0, next[4].handler());
        co_await seen_and_broken(zk, path + "/priority", f, next[4]);
    });
}

TEST_CASE("contention_inspector: leases of Curator's semaphore, below its parent znode") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        semaphore_options options;
        options.compatibility = compatibility::curator;
        semaphore p(zk, path, 2, options);
        ownership a = co_await p.acquire();
        ownership b = co_await p.acquire();
        contention_inspector line(zk, path);
        std::vector<contender_info> found = co_await line.list_contenders();
        REQUIRE(found.size() == 2);
        CHECK(found[0].holds);
        CHECK(found[1].holds);
        CHECK(found[0].path == a.path());
        co_await line.break_contender(b.path());
        CHECK(co_await b.wait_lost() == errc::ownership_lost);
    });
}

TEST_CASE("contention_inspector: asks first; a holder that hears it is not broken") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        lock l(zk, path);
        contention_inspector line(zk, path);
        ownership held = co_await l.acquire();
        pending_result<bool> asked;
        line.insist_on_release(held.path(), 20s, asked.handler());
        co_await held.wait_release_requested();
        co_await held.release();
        co_await eventually_async([&] { return asked.calls() == 1; }, 20s, "the answer");
        CHECK_FALSE(asked.error());
        CHECK_FALSE(asked.value());
        ownership deaf = co_await l.acquire();
        co_await line.request_release(deaf.path());
        co_await deaf.wait_release_requested();
        CHECK(deaf.valid());
        bool removed = co_await line.insist_on_release(deaf.path(), 10ms);
        CHECK(removed);
    });
}

TEST_CASE("contention_inspector: asks Curator's locks in their word, and overwrites no others") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        contender_options mutex("me");
        mutex.compatibility = compatibility::curator;
        lock l(zk, path + "/lock", mutex);
        ownership held = co_await l.acquire();
        contention_inspector line(zk, path + "/lock");
        co_await line.request_release(held.path());
        co_await held.wait_release_requested();
        CHECK(observer().data(held.path()) == "__REVOKE__");
        election_options latch;
        latch.identity = "me";
        latch.compatibility = compatibility::curator;
        election e(zk, path + "/latch", latch);
        ownership term = co_await e.campaign();
        contention_inspector candidates(zk, path + "/latch");
        auto [ec] = co_await candidates.request_release(term.path(), as_tuple());
        CHECK(ec == errc::not_supported);
        auto [insisted, removed] =
            co_await candidates.insist_on_release(term.path(), 1ms, as_tuple());
        CHECK(insisted == errc::not_supported);
        CHECK_FALSE(removed);
        auto [waited] = co_await term.wait_release_requested(as_tuple());
        CHECK(waited == errc::not_supported);
        CHECK(term.valid());
        CHECK(observer().data(term.path()) == "me");
    });
}

TEST_CASE("contention_inspector: cancelled while it waits, it breaks nobody and leaves no watch") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        lock l(zk, path);
        auto watches = [&](std::size_t count) {
            return [&path, count] { return watches_below(path) == count; };
        };
        ownership held = co_await l.acquire();
        co_await eventually_async(watches(1));  // its own, once it has held for a while
        contention_inspector line(other, path);
        pending_result<bool> asked;
        line.insist_on_release(held.path(), time_limit::for_ever(), asked.handler());
        co_await held.wait_release_requested();
        co_await eventually_async(watches(2));
        asked.cancel();
        CHECK(co_await finished(asked) == boost::asio::error::operation_aborted);
        co_await eventually_async(watches(1));
        CHECK(held.valid());
        co_await other.close();
    });
}

TEST_CASE("contention_inspector: nobody there, bad paths, a closed client") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        contention_inspector line(zk, path);
        std::vector<contender_info> found = co_await line.list_contenders();
        CHECK(found.empty());
        auto [none] = co_await line.break_contender(path + "/x", as_tuple());
        CHECK(none == zk_errc::no_node);
        auto [nobody] = co_await line.request_release(path + "/x", as_tuple());
        CHECK(nobody == zk_errc::no_node);
        contention_inspector bad(zk, "nope");
        auto [ec, nothing] = co_await bad.list_contenders(as_tuple());
        CHECK(ec == errc::bad_path);
        contention_inspector moved(std::move(line));
        auto [closed] = co_await line.break_contender(path + "/x", as_tuple());
        CHECK(closed == errc::closed);
        contention_inspector orphan(client(), path);
        auto [gone, empty] = co_await orphan.list_contenders(as_tuple());
        CHECK(gone == errc::closed);
    });
}

}  // namespace corozk::testing::contention_inspector_test
