// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/shared_lock.hpp>

namespace corozk::testing::shared_lock_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

awaitable<void> gone(const std::string& path) {
    co_await eventually_async([&] { return observer().children(path).empty(); });
}

}  // namespace

TEST_CASE("shared_lock: readers together, writers alone, in order") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        shared_lock mine(zk, path);
        shared_lock theirs(other, path);
        ownership r1 = co_await mine.acquire_read();
        ownership r2 = co_await theirs.acquire_read();
        CHECK(r1.valid());
        CHECK(r2.fencing_token() > r1.fencing_token());

        pending_result<ownership> writer;
        mine.acquire_write(writer.handler());
        co_await eventually_async([&] { return observer().children(path).size() == 3; });
        pending_result<ownership> late_reader;
        theirs.acquire_read(late_reader.handler());
        co_await settle(zk);
        co_await settle(other);
        CHECK(!writer.done());
        CHECK(!late_reader.done());

        auto line = co_await mine.list_contenders();
        REQUIRE(line.size() == 4);
        CHECK((line[0].holds && line[1].holds && !line[2].holds && !line[3].holds));
        CHECK((line[0].kind == "read" && line[2].kind == "write"));
        CHECK(line[2].waits_for == std::vector<std::string>{line[1].path, line[0].path});
        CHECK(line[3].waits_for == std::vector<std::string>{line[2].path});

        co_await r2.release();
        co_await settle(zk);
        CHECK(!writer.done());
        co_await r1.release();
        CHECK(!co_await finished(writer));
        co_await settle(other);
        CHECK(!late_reader.done());
        co_await writer.value().release();
        CHECK(!co_await finished(late_reader));
        co_await late_reader.value().release();
        co_await gone(path);
        co_await other.close();
    });
}

TEST_CASE("shared_lock: the try forms") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        shared_lock mine(zk, path);
        shared_lock theirs(other, path);
        // At the same time, and both possible.
        pending_result<ownership> a, b;
        mine.try_acquire_read(a.handler());
        mine.try_acquire_read(b.handler());
        CHECK(!co_await finished(a));
        CHECK(!co_await finished(b));
        ownership c = co_await theirs.try_acquire_read();
        auto [write_ec, none] = co_await theirs.try_acquire_write(as_tuple());
        CHECK(write_ec == errc::would_block);
        auto [local_ec, none_too] = co_await mine.try_acquire_write(as_tuple());
        CHECK(local_ec == errc::would_block);
        co_await a.value().release();
        co_await b.value().release();
        co_await c.release();
        ownership w = co_await theirs.try_acquire_write();
        pending_result<ownership> d, e;
        mine.try_acquire_read(d.handler());
        mine.try_acquire_read(e.handler());
        CHECK(co_await finished(d) == errc::would_block);
        CHECK(co_await finished(e) == errc::would_block);
        auto [late, nothing] = co_await mine.acquire_read_for(50ms, as_tuple());
        CHECK(late == errc::deadline_exceeded);
        co_await w.release();
        co_await gone(path);
        co_await other.close();
    });
}

TEST_CASE("shared_lock: many readers behind a writer go at once, with few requests") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        shared_lock mine(zk, path);
        shared_lock theirs(other, path);
        ownership w = co_await theirs.acquire_write();
        std::vector<pending_result<ownership>> readers(1'000);
        for (auto& r : readers)
            mine.acquire_read(r.handler());
        co_await eventually_async([&] { return observer().children(path).size() == 1'001; });
        co_await settle(zk);
        std::uint64_t before = zk.counters().requests;
        co_await w.release();
        for (auto& r : readers)
            CHECK(!co_await finished(r));
        // At most a look at each own node, once.
        CHECK(zk.counters().requests - before <= 1'010);
        for (auto& r : readers)
            r.value() = ownership();
        co_await gone(path);
        co_await other.close();
    });
}

TEST_CASE("shared_lock: run, and a body that is cancelled when its node is erased") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        shared_lock l(zk, path);
        auto count = [&](ownership& held) -> awaitable<int> {
            CHECK(held.valid());
            co_return 42;
        };
        CHECK(co_await l.run_read(count) == 42);
        CHECK(co_await l.run_write(count) == 42);
        auto stay = [&](ownership& held) -> awaitable<void> {
            co_await l.break_contender(held.path());
            boost::asio::steady_timer forever(co_await boost::asio::this_coro::executor, 1h);
            co_await forever.async_wait(boost::asio::use_awaitable);
        };
        error_code reason;
        try {
            co_await l.run_write(stay);
        } catch (const error& e) {
            reason = e.code();
        }
        CHECK(reason == errc::ownership_lost);
        co_await gone(path);
    });
}

TEST_CASE("shared_lock: the names of other libraries") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        for (auto style : {compatibility::curator, compatibility::kazoo}) {
            bool curator = style == compatibility::curator;
            shared_lock_options options;
            options.compatibility = style;
            std::string folder = path + (curator ? "/curator" : "/kazoo");
            shared_lock l(zk, folder, options);
            ownership r = co_await l.acquire_read();
            CHECK(r.path().find(curator ? "-__READ__0" : "__rlock__0") != std::string::npos);
            // As the other library's writer would stand there.
            std::string theirs = folder + (curator ? "/_c_01234567-89ab-cdef-0123-456789abcdef-"
                                                     "__WRIT__0000000001"
                                                   : "/0123456789abcdef0123456789abcdef"
                                                     "__lock__0000000001");
            observer().plant(theirs);
            observer().plant(folder + "/lease_holder");
            pending_result<ownership> next;
            l.acquire_read(next.handler());
            co_await settle(zk);
            // Its sequence is the fourth: the planted ones count.
            CHECK(!next.done());
            observer().erase(theirs);
            CHECK(!co_await finished(next));
        }
    });
}

TEST_CASE("shared_lock: what makes no sense fails at once") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        shared_lock bad(zk, "no/path");
        auto [ec, none] = co_await bad.acquire_read(as_tuple());
        CHECK(ec == errc::bad_path);
        shared_lock good(zk, path);
        shared_lock moved(std::move(good));
        auto [moved_ec, nothing] = co_await good.acquire_write(as_tuple());  // NOLINT
        CHECK(moved_ec == errc::closed);
        ownership held = co_await moved.acquire_write();
        co_await zk.close();
        auto [closed_ec, still_nothing] = co_await moved.acquire_write(as_tuple());
        CHECK(closed_ec == errc::closed);
    });
}

TEST_CASE("shared_lock: a downgrade keeps its place (curator 276, 621)") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        shared_lock mine(zk, path);
        shared_lock theirs(other, path);
        ownership held = co_await mine.acquire_write();
        std::int64_t token = held.fencing_token();
        std::string old_path = held.path();
        pending_result<ownership> local_reader, writer, reader;
        mine.acquire_read(local_reader.handler());
        co_await eventually_async([&] { return observer().children(path).size() == 2; });
        theirs.acquire_write(writer.handler());
        co_await eventually_async([&] { return observer().children(path).size() == 3; });
        theirs.acquire_read(reader.handler());
        co_await settle(zk);
        co_await settle(other);

        co_await mine.downgrade(held);
        CHECK(held.valid());
        CHECK(held.path() != old_path);
        CHECK(held.path().find("-read-0000000000") != std::string::npos);
        CHECK(held.fencing_token() == token);
        CHECK(observer().exists(held.path()));
        CHECK(!observer().exists(old_path));
        CHECK(!co_await finished(local_reader));
        co_await settle(other);
        CHECK(!writer.done());
        // It cannot be done twice.
        auto [again] = co_await mine.downgrade(held, as_tuple());
        CHECK(again == errc::bad_option);

        co_await local_reader.value().release();
        co_await settle(other);
        CHECK(!writer.done());
        co_await held.release();
        CHECK(!co_await finished(writer));
        CHECK(!reader.done());
        CHECK(writer.value().fencing_token() > token);
        co_await theirs.downgrade(writer.value());
        CHECK(!co_await finished(reader));
        writer.value() = ownership();
        co_await reader.value().release();
        co_await gone(path);
        co_await other.close();
    });
}

TEST_CASE("shared_lock: a writer right behind one that becomes a reader still waits for it") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        shared_lock mine(zk, path);
        shared_lock theirs(other, path);
        // Alone, and behind a reader of its own session, which may go.
        for (bool reader_between : {false, true}) {
            ownership held = co_await mine.acquire_write();
            pending_result<ownership> reader, writer;
            if (reader_between)
                theirs.acquire_read(reader.handler());
            theirs.acquire_write(writer.handler());
            co_await settle(other);
            co_await mine.downgrade(held);
            if (reader_between) {
                CHECK(!co_await finished(reader));
                co_await reader.value().release();
            }
            co_await settle(other);
            CHECK(!writer.done());
            co_await held.release();
            CHECK(!co_await finished(writer));
            co_await writer.value().release();
            co_await gone(path);
        }
        co_await other.close();
    });
}

TEST_CASE("shared_lock: a reader does not pass on what one that was a writer still holds") {
    with_proxy([](client& between, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client first = co_await one_more_client();
        client last = co_await one_more_client();
        shared_lock mine(first, path), reads(between, path), writes(last, path);
        ownership held = co_await mine.acquire_write();
        pending_result<ownership> reader, writer;
        reads.acquire_read(reader.handler());
        co_await settle(between);
        writes.acquire_write(writer.handler());
        co_await settle(last);
        // It lists again, and knows the writer behind its reader.
        std::uint64_t listings = between.counters().listings;
        proxy.cut();
        co_await eventually_async([&] { return between.counters().listings > listings; });
        co_await settle(between);
        co_await mine.downgrade(held);
        CHECK(!co_await finished(reader));
        co_await reader.value().release();
        co_await settle(last);
        CHECK(!writer.done());
        co_await held.release();
        CHECK(!co_await finished(writer));
        co_await writer.value().release();
        co_await gone(path);
        co_await first.close();
        co_await last.close();
    });
}

TEST_CASE("shared_lock: what was downgraded is watched under its new name") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        shared_lock l(zk, path);
        ownership held = co_await l.acquire_write();
        co_await l.downgrade(held);
        pending_result<error_code> lost;
        held.wait_lost(lost.handler());
        observer().erase(held.path());
        CHECK(!co_await finished(lost));
        CHECK(lost.value() == errc::ownership_lost);
        auto [ec] = co_await l.downgrade(held, as_tuple());
        CHECK(ec == errc::ownership_lost);
    });
}

TEST_CASE("shared_lock: an upgrade waits for the other readers, and new ones wait for it") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        shared_lock mine(zk, path);
        shared_lock theirs(other, path);
        ownership held = co_await mine.acquire_read();
        std::string old_path = held.path();
        ownership reader = co_await theirs.acquire_read();
        pending_result<> upgrade;
        mine.upgrade(held, upgrade.handler());
        co_await eventually_async([&] { return observer().children(path).size() == 3; });
        pending_result<ownership> late;
        theirs.acquire_read(late.handler());
        co_await settle(zk);
        co_await settle(other);
        CHECK(!upgrade.done());
        CHECK(!late.done());
        auto [busy] = co_await mine.upgrade(held, as_tuple());
        CHECK(busy == errc::busy);
        co_await reader.release();
        CHECK(!co_await finished(upgrade));
        CHECK(held.valid());
        CHECK(held.path().find("-write-") != std::string::npos);
        co_await eventually_async([&] { return !observer().exists(old_path); });
        co_await settle(other);
        CHECK(!late.done());
        auto line = co_await mine.list_contenders();
        REQUIRE(line.size() == 2);
        CHECK((line[0].path == held.path() && line[0].holds));
        // And back again.
        co_await mine.downgrade(held);
        CHECK(!co_await finished(late));
        pending_result<error_code> lost;
        held.wait_lost(lost.handler());
        observer().erase(held.path());
        CHECK(!co_await finished(lost));
        co_await late.value().release();
        co_await gone(path);
        co_await other.close();
    });
}

TEST_CASE("shared_lock: an upgrade that could never be is refused at once") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        shared_lock mine(zk, path);
        shared_lock theirs(other, path);
        // Two at the same time, in two sessions and in one.
        for (bool same_session : {false, true}) {
            shared_lock& second = same_session ? mine : theirs;
            ownership a = co_await mine.acquire_read();
            ownership b = co_await second.acquire_read();
            pending_result<> upgrade_a, upgrade_b;
            mine.upgrade(a, upgrade_a.handler());
            second.upgrade(b, upgrade_b.handler());
            co_await eventually_async([&] { return upgrade_a.done() || upgrade_b.done(); });
            co_await settle(zk);
            co_await settle(other);
            CHECK(upgrade_a.done() != upgrade_b.done());
            bool a_refused = upgrade_a.done();
            CHECK((a_refused ? upgrade_a : upgrade_b).error() == errc::would_deadlock);
            ownership& refused = a_refused ? a : b;
            ownership& upgraded = a_refused ? b : a;
            auto& granted = a_refused ? upgrade_b : upgrade_a;
            CHECK(refused.valid());
            co_await refused.release();
            CHECK(!co_await finished(granted));
            co_await upgraded.release();
            co_await gone(path);
        }
        // A queued writer, in another session and in this one.
        for (bool same_session : {false, true}) {
            ownership held = co_await mine.acquire_read();
            pending_result<ownership> writer;
            (same_session ? mine : theirs).acquire_write(writer.handler());
            co_await eventually_async([&] { return observer().children(path).size() == 2; });
            auto [ec] = co_await mine.upgrade(held, as_tuple());
            CHECK(ec == errc::would_deadlock);
            CHECK(held.valid());
            co_await eventually_async([&] { return observer().children(path).size() == 2; });
            co_await held.release();
            CHECK(!co_await finished(writer));
            auto [not_a_reader] = co_await mine.upgrade(writer.value(), as_tuple());
            CHECK(not_a_reader == errc::bad_option);
            co_await writer.value().release();
            co_await gone(path);
        }
        co_await other.close();
    });
}

TEST_CASE("shared_lock: an upgrade that had to wait is refused if it may not") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        shared_lock mine(zk, path);
        shared_lock theirs(other, path);
        ownership held = co_await mine.acquire_read();
        for (shared_lock* lock : {&mine, &theirs}) {
            ownership reader = co_await lock->acquire_read();
            auto [blocked] = co_await mine.try_upgrade(held, as_tuple());
            CHECK(blocked == errc::would_block);
            CHECK(held.valid());
            co_await reader.release();
        }
        co_await eventually_async([&] { return observer().children(path).size() == 1; });
        co_await mine.try_upgrade(held);
        CHECK(held.path().find("-write-") != std::string::npos);
        auto [taken, none] = co_await theirs.try_acquire_read(as_tuple());
        CHECK(taken == errc::would_block);
        co_await held.release();
        co_await gone(path);
        co_await other.close();
    });
}

TEST_CASE("shared_lock: an upgrade that is given up leaves the reader as it was") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        shared_lock l(zk, path);
        ownership held = co_await l.acquire_read();
        ownership reader = co_await l.acquire_read();
        auto [late] = co_await l.upgrade_for(held, 50ms, as_tuple());
        CHECK(late == errc::deadline_exceeded);
        co_await eventually_async([&] { return observer().children(path).size() == 2; });
        pending_result<> cancelled;
        l.upgrade(held, cancelled.handler());
        co_await settle(zk);
        cancelled.cancel();
        CHECK(co_await finished(cancelled) == boost::asio::error::operation_aborted);
        co_await eventually_async([&] { return observer().children(path).size() == 2; });
        CHECK(held.valid());
        // Released meanwhile.
        pending_result<> upgrade;
        l.upgrade(held, upgrade.handler());
        co_await settle(zk);
        co_await held.release();
        CHECK(co_await finished(upgrade) == errc::ownership_lost);
        co_await reader.release();
        co_await gone(path);
    });
}

TEST_CASE("shared_lock: an upgrade that waits ends with its client") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        shared_lock mine(zk, path);
        shared_lock theirs(other, path);
        ownership held = co_await mine.acquire_read();
        ownership reader = co_await theirs.acquire_read();
        pending_result<> upgrade;
        mine.upgrade(held, upgrade.handler());
        co_await settle(zk);
        co_await zk.close();
        CHECK(co_await finished(upgrade) == errc::closed);
        co_await reader.release();
        co_await other.close();
    });
}

TEST_CASE("shared_lock: a holder hears of requests, whenever they were written") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        shared_lock_options options("somebody");
        shared_lock mine(zk, path, options);
        shared_lock theirs(other, path);
        ownership held = co_await mine.acquire_write();
        pending_result<> requested;
        held.wait_release_requested(requested.handler());
        co_await settle(zk);
        CHECK(!requested.done());
        auto [busy] = co_await held.wait_release_requested(as_tuple());
        CHECK(busy == errc::busy);
        co_await theirs.request_release(held.path());
        CHECK(!co_await finished(requested));
        CHECK(observer().data(held.path()) == "somebody\nunlock");
        auto line = co_await theirs.list_contenders();
        REQUIRE(line.size() == 1);
        CHECK(line[0].data == "somebody");
        co_await held.wait_release_requested();  // it stays so
        co_await theirs.request_release(held.path());
        CHECK(observer().data(held.path()) == "somebody\nunlock");

        // Written while it waits, and delivered with the grant.
        pending_result<ownership> next;
        mine.acquire_read(next.handler());
        co_await eventually_async([&] { return observer().children(path).size() == 2; });
        line = co_await theirs.list_contenders();
        REQUIRE(line.size() == 2);
        co_await theirs.request_release(line[1].path);
        std::string released = held.path();
        co_await held.release();
        CHECK(!co_await finished(next));
        co_await next.value().wait_release_requested();
        co_await next.value().release();

        // Another acquisition begins anew; its end ends the wait.
        ownership again = co_await mine.acquire_read();
        pending_result<> not_requested;
        again.wait_release_requested(not_requested.handler());
        co_await settle(zk);
        CHECK(!not_requested.done());
        co_await again.release();
        CHECK(co_await finished(not_requested) == boost::asio::error::operation_aborted);

        auto [gone_ec] = co_await theirs.request_release(released, as_tuple());
        CHECK(gone_ec == zk_errc::no_node);
        auto [path_ec] = co_await theirs.request_release("/elsewhere/x", as_tuple());
        CHECK(path_ec == errc::bad_path);
        co_await gone(path);
        co_await other.close();
    });
}

TEST_CASE("shared_lock: after the grace time the node is removed") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        shared_lock mine(zk, path);
        shared_lock theirs(other, path);
        {
            // Somebody who listens.
            ownership held = co_await mine.acquire_read();
            pending_result<bool> insisted;
            theirs.insist_on_release(held.path(), 20s, insisted.handler());
            co_await held.wait_release_requested();
            co_await held.release();
            CHECK(!co_await finished(insisted));
            CHECK(!insisted.value());
        }
        {
            // Somebody who does not.
            ownership held = co_await mine.acquire_read();
            pending_result<error_code> lost;
            held.wait_lost(lost.handler());
            bool removed = co_await theirs.insist_on_release(held.path(), 50ms);
            CHECK(removed);
            CHECK(!co_await finished(lost));
            CHECK(lost.value() == errc::ownership_lost);
            CHECK(!held.valid());
        }
        {
            ownership held = co_await mine.acquire_read();
            pending_result<bool> insisted;
            theirs.insist_on_release(held.path(), 20s, insisted.handler());
            co_await held.wait_release_requested();
            insisted.cancel();
            CHECK(co_await finished(insisted) == boost::asio::error::operation_aborted);
            co_await held.release();
        }
        co_await gone(path);
        co_await eventually_async([&] { return watches_below(path) == 0; });
        co_await other.close();
    });
}

}  // namespace corozk::testing::shared_lock_test
