// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/shared_lock.hpp>

namespace corozk::testing::shared_lock_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

awaitable<void> nothing_left(const std::string& path) {
    co_await eventually_async([&] { return observer().children(path).empty(); });
    co_await eventually_async([&] { return watches_below(path) == 0; });
}

/// Whoever comes next is not kept waiting.
awaitable<void> next_one_proceeds(const std::string& path) {
    client other = co_await one_more_client();
    shared_lock next(other, path);
    ownership held = co_await next.acquire_write_for(15s);
    co_await held.release();
    co_await other.close();
}

bool stands(const ownership& held) {
    auto record = observer().stat(held.path());
    return record && record->czxid == held.fencing_token();
}

}  // namespace

TEST_CASE("shared_lock: a whole life with a cut at every frame") {
    cut_at_every_frame([](fault_run& r) -> awaitable<void> {
        shared_lock l(r.zk, r.path);
        ownership held = co_await l.acquire_write();
        CHECK(stands(held));
        pending_result<ownership> reader;
        l.acquire_read(reader.handler());
        co_await eventually_async([&] { return observer().children(r.path).size() == 2; });
        co_await l.downgrade(held);
        CHECK(stands(held));
        CHECK(!co_await finished(reader));
        CHECK(observer().children(r.path).size() == 2);
        pending_result<> upgrade;
        l.upgrade(held, upgrade.handler());
        co_await settle(r.zk);
        CHECK(!upgrade.done());
        co_await reader.value().release();
        CHECK(!co_await finished(upgrade));
        CHECK(stands(held));
        CHECK(held.valid());
        co_await held.release();
        co_await nothing_left(r.path);
        co_await next_one_proceeds(r.path);
    });
}

TEST_CASE("shared_lock: behind somebody else's writer, with a cut at every frame") {
    cut_at_every_frame([](fault_run& r) -> awaitable<void> {
        client other = co_await one_more_client();
        shared_lock theirs(other, r.path);
        ownership ahead = co_await theirs.acquire_write();
        shared_lock mine(r.zk, r.path);
        pending_result<ownership> reader, writer;
        mine.acquire_read(reader.handler());
        co_await eventually_async([&] { return observer().children(r.path).size() == 2; });
        co_await settle(r.zk);  // a create whose answer was lost is known by now
        mine.acquire_write(writer.handler());
        co_await settle(r.zk);
        CHECK(!reader.done());
        co_await ahead.release();
        CHECK(!co_await finished(reader));
        CHECK(!writer.done());
        co_await reader.value().release();
        CHECK(!co_await finished(writer));
        co_await writer.value().release();
        co_await nothing_left(r.path);
        co_await other.close();
    });
}

TEST_CASE("shared_lock: requests for release with a cut at every frame of the holder") {
    cut_at_every_frame([](fault_run& r) -> awaitable<void> {
        client other = co_await one_more_client();
        shared_lock theirs(other, r.path);
        shared_lock_options options("me");
        shared_lock mine(r.zk, r.path, options);
        ownership held = co_await mine.acquire_read();
        co_await theirs.request_release(held.path());
        co_await held.wait_release_requested();
        CHECK(observer().data(held.path()) == "me\nunlock");
        co_await held.release();
        co_await nothing_left(r.path);
        co_await other.close();
    });
}

TEST_CASE("shared_lock: requests for release with a cut at every frame of the one who asks") {
    cut_at_every_frame([](fault_run& r) -> awaitable<void> {
        client other = co_await one_more_client();
        shared_lock theirs(other, r.path, shared_lock_options("they"));
        shared_lock mine(r.zk, r.path);
        ownership held = co_await theirs.acquire_read();
        co_await mine.request_release(held.path());
        CHECK(observer().data(held.path()) == "they\nunlock");
        bool removed = co_await mine.insist_on_release(held.path(), 20ms);
        CHECK(removed);
        co_await eventually_async([&] { return !held.valid(); });
        co_await nothing_left(r.path);
        co_await other.close();
    });
}

TEST_CASE("shared_lock: the session lost at every frame") {
    expire_at_every_frame([](fault_run& r) -> awaitable<void> {
        shared_lock l(r.zk, r.path);
        auto [ec, held] = co_await l.acquire_write(as_tuple());
        if (!ec) {
            auto [down] = co_await l.downgrade(held, as_tuple());
            CHECK((!down || is_session_lost(down) || down == errc::ownership_lost));
            auto [up] = co_await l.upgrade(held, as_tuple());
            CHECK((!up || is_session_lost(up) || up == errc::ownership_lost));
            auto [released] = co_await held.release(as_tuple());
            CHECK((!released || is_session_lost(released) || released == errc::ownership_lost));
        } else {
            CHECK((is_session_lost(ec) || ec == errc::ownership_lost));
        }
        co_await nothing_left(r.path);
        co_await next_one_proceeds(r.path);
    });
}

TEST_CASE("shared_lock: every operation cancelled at every frame") {
    for (int what = 0; what < 3; ++what) {
        cancel_at_every_frame(
            [what](fault_run& r, boost::asio::cancellation_slot slot) -> awaitable<void> {
                shared_lock l(r.zk, r.path);
                auto token = boost::asio::bind_cancellation_slot(slot, as_tuple());
                if (what == 0) {
                    auto [ec, held] = co_await l.acquire_read(token);
                    CHECK((!ec || ec == boost::asio::error::operation_aborted));
                    if (!ec)
                        co_await held.release();
                } else {
                    // No conditional operators around co_await: g++ 12.2.
                    ownership held;
                    error_code result;
                    if (what == 1) {
                        held = co_await l.acquire_write();
                        auto [ec] = co_await l.downgrade(held, token);
                        result = ec;
                    } else {
                        held = co_await l.acquire_read();
                        auto [ec] = co_await l.upgrade(held, token);
                        result = ec;
                    }
                    CHECK((!result || result == boost::asio::error::operation_aborted));
                    co_await settle(r.zk);
                    CHECK(held.valid());
                    CHECK(stands(held));
                    co_await held.release();
                }
                co_await nothing_left(r.path);
                co_await next_one_proceeds(r.path);
            });
    }
}

TEST_CASE("shared_lock: released, dropped and closed while it changes") {
    for (int how = 0; how < 4; ++how) {
        with_client([how](client& zk, std::string path) -> awaitable<void> {
            shared_lock l(zk, path);
            ownership held;
            ownership reader;
            pending_result<> change;
            if (how % 2) {
                held = co_await l.acquire_write();
                l.downgrade(held, change.handler());
            } else {
                held = co_await l.acquire_read();
                reader = co_await l.acquire_read();
                l.upgrade(held, change.handler());
            }
            if (how < 2) {
                held = ownership();
            } else {
                co_await zk.close();
            }
            co_await finished(change);
            CHECK(change.calls() == 1);
            reader = ownership();
            co_await nothing_left(path);
        });
    }
}

TEST_CASE("shared_lock: a request for release that meets a change is not lost") {
    for (bool upgrade : {false, true}) {
        with_proxy([&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            client other = co_await one_more_client();
            shared_lock mine(zk, path);
            shared_lock theirs(other, path);
            ownership held;
            if (upgrade)
                held = co_await mine.acquire_read();
            else
                held = co_await mine.acquire_write();
            co_await settle(zk);
            std::string old_path = held.path();
            auto last = upgrade ? op_code::erase : op_code::multi;
            rule_id rule = proxy.arm(at_op(last), hold_request());
            pending_result<> change;
            if (upgrade)
                mine.upgrade(held, change.handler());
            else
                mine.downgrade(held, change.handler());
            co_await eventually_async([&] { return proxy.statistics().held > 0; });
            co_await theirs.request_release(old_path);
            pending_result<> requested;
            held.wait_release_requested(requested.handler());
            proxy.release(rule);
            CHECK(!co_await finished(change));
            CHECK(!co_await finished(requested));
            CHECK(held.valid());
            CHECK(stands(held));
            co_await held.release();
            co_await nothing_left(path);
            co_await other.close();
        });
    }
}

TEST_CASE("shared_lock: the folder erased while readers hold and a writer waits") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        shared_lock l(zk, path);
        ownership reader = co_await l.acquire_read();
        pending_result<ownership> writer;
        l.acquire_write(writer.handler());
        co_await settle(zk);
        observer().erase_recursively(path);
        CHECK(co_await finished(writer) == errc::ownership_lost);
        co_await eventually_async([&] { return !reader.valid(); });
        co_await next_one_proceeds(path);
        ownership again = co_await l.acquire_write();
        co_await again.release();
        co_await nothing_left(path);
    });
}

}  // namespace corozk::testing::shared_lock_test
