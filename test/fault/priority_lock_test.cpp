// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/priority_lock.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace corozk::testing::priority_lock_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

bool stands(const ownership& held) {
    auto record = observer().stat(held.path());
    return record && record->czxid == held.fencing_token();
}

std::size_t nodes_in(const std::string& folder) {
    return observer().children(folder).size();
}

/// Whoever comes next is not kept waiting.
awaitable<void> probe(client& healthy, std::string folder) {
    priority_lock next(healthy, folder);
    ownership held = co_await next.acquire_for(9, 15s);
    CHECK(held.valid());
    co_await held.release();
}

}  // namespace

TEST_CASE("priority_lock: broken only when the node that blocks others is gone") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        priority_lock l(other, path);
        ownership held = co_await l.acquire(0);
        const std::string record = held.path();
        priority_lock breaks(zk, path);
        auto line = co_await breaks.list_contenders();
        REQUIRE(line.size() == 1);
        // The contender's node is deleted; the request for the record is lost.
        proxy.arm(at_op(op_code::erase, 2), drop_request_and_cut());
        auto [ec] = co_await breaks.break_contender(line[0].path, as_tuple());
        CHECK(ec == zk_errc::connection_loss);
        co_await eventually_async([&] { return !held.valid(); });
        co_await nothing_left(path);
        co_await other.close();
    });
}

namespace {

/// The connection is lost while the attempt looks, and the call is cancelled before the next one.
awaitable<void> cancelled_while_it_looks(client& zk, fault_proxy& proxy, priority_lock& l) {
    proxy.arm(at_op(op_code::get_children2), swallow_reply_and_cut().then_refuse());
    pending_result<ownership> mine;
    l.acquire(0, mine.handler());
    co_await eventually_async([&] { return zk.state() == session_state::suspended; });
    mine.cancel();
    CHECK(co_await finished(mine) == boost::asio::error::operation_aborted);
    co_await accept_again(proxy, zk);
    co_await settle(zk);
}

}  // namespace

TEST_CASE("priority_lock: nothing is done for a call that was cancelled in an outage") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        priority_lock theirs(other, path);
        priority_lock_options options;
        options.ask_holder_to_release = true;
        priority_lock mine(zk, path, options);
        // The ageing is not written.
        co_await cancelled_while_it_looks(zk, proxy, mine);
        co_await eventually_async([&] { return nodes_in(path) == 0; });
        CHECK(observer().data(path).empty());
        // The lock is not taken, not even for a moment.
        ownership held = co_await theirs.acquire(5);
        co_await held.release();
        const auto before = observer().stat(path);
        REQUIRE(before);
        co_await cancelled_while_it_looks(zk, proxy, mine);
        co_await eventually_async([&] { return nodes_in(path) == 0; });
        const auto after = observer().stat(path);
        REQUIRE(after);
        CHECK(after->version == before->version);
        // The holder is not asked to release.
        held = co_await theirs.acquire(5);
        co_await cancelled_while_it_looks(zk, proxy, mine);
        co_await eventually_async([&] { return nodes_in(path) == 2; });
        co_await settle(zk);
        for (const std::string& node : observer().children(path))
            CHECK(observer().data(path + "/" + node).empty());
        co_await held.release();
        co_await nothing_left(path);
        co_await other.close();
    });
}

TEST_CASE("priority_lock: own nodes and the folder erased, holding and waiting") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        priority_lock l(zk, path);
        for (int what = 0; what < 4; ++what) {
            ownership held = co_await l.acquire(0);
            pending_result<ownership> waiter;
            l.acquire(3, waiter.handler());
            co_await eventually_async([&] { return nodes_in(path) == 3; });
            co_await settle(zk);
            std::string record = held.path();
            std::string contender = record.substr(0, record.rfind("-held"));
            if (what == 3) {
                observer().erase_recursively(path);
                CHECK(co_await finished(waiter) == errc::ownership_lost);
            } else if (what == 2) {
                auto line = co_await l.list_contenders();
                REQUIRE(line.size() == 2);
                observer().erase(line[1].path);
                CHECK(co_await finished(waiter) == errc::ownership_lost);
                CHECK(held.valid());
                co_await held.release();
            } else {
                observer().erase(what == 0 ? record : contender);
                CHECK(!co_await finished(waiter));
                CHECK(stands(waiter.value()));
                co_await waiter.value().release();
            }
            co_await eventually_async([&] { return !held.valid(); });
            held = ownership();
            co_await eventually_async([&] { return nodes_in(path) == 0; });
            co_await probe(zk, path);
        }
        co_await nothing_left(path);
    });
}

}  // namespace corozk::testing::priority_lock_test
