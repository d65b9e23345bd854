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
    return record && record->czxid >= held.fencing_token();
}

}  // namespace

TEST_CASE("shared_lock: a commit while it changes is refused as busy, not as lost") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        shared_lock l(zk, path);
        ownership held = co_await l.acquire_write();
        const rule_id changing = proxy.arm(at_op(op_code::multi), hold_request());
        pending_result<> change;
        l.downgrade(held, change.handler());
        co_await eventually_async([&] { return proxy.fired(changing) == 1; });
        transaction write;
        write.create(path + "-result", "x");
        auto [ec, results] = co_await held.commit(write, as_tuple());
        CHECK(ec == errc::busy);
        proxy.release(changing);
        CHECK(!co_await finished(change));
        co_await held.commit(write);
        co_await held.release();
    });
}

TEST_CASE("shared_lock: a holder that obeys a request whose response was lost was not removed") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        shared_lock mine(other, path);
        shared_lock theirs(zk, path);
        ownership held = co_await mine.acquire_read();
        proxy.arm(at_op(op_code::set_data), swallow_reply_and_cut().then_refuse());
        pending_result<bool> insisted;
        theirs.insist_on_release(held.path(), 60s, insisted.handler());
        co_await held.wait_release_requested();
        co_await held.release();
        co_await accept_again(proxy, zk);
        CHECK(!co_await finished(insisted));
        CHECK_FALSE(insisted.value());
        co_await other.close();
    });
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

TEST_CASE("shared_lock: an upgrade is no deadlock with an earlier one that is being given up") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        shared_lock mine(zk, path);
        shared_lock theirs(other, path);
        ownership held = co_await mine.acquire_read();
        ownership reader = co_await theirs.acquire_read();
        // The node of the first one is found and deleted after the second one's is created.
        proxy.arm(at_op(op_code::create2), swallow_reply_and_cut().then_refuse());
        pending_result<> first;
        mine.upgrade(held, first.handler());
        co_await eventually_async([&] { return zk.state() == session_state::suspended; });
        first.cancel();
        pending_result<> second;
        mine.upgrade(held, second.handler());
        co_await accept_again(proxy, zk);
        CHECK(co_await finished(first) == boost::asio::error::operation_aborted);
        co_await settle(zk);
        CHECK_FALSE(second.done());
        co_await reader.release();
        CHECK(!co_await finished(second));
        CHECK(stands(held));
        co_await held.release();
        co_await nothing_left(path);
        co_await other.close();
    });
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
