// SPDX-License-Identifier: Apache-2.0
// What a client is told of others' contenders when its server lags behind, or is lost meanwhile.
#include "lagging_server.hpp"
#include <corozk/recipe/contention_inspector.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/priority_lock.hpp>
#include <corozk/recipe/semaphore.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace corozk::testing::inspection_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;

namespace {

/// How many hold, as `asking` is told; whether the call failed for a lost connection.
struct told {
    bool lost = false;
    std::size_t holding = 0;
};

told count(const error_code& ec, const std::vector<contender_info>& contenders) {
    CAPTURE(ec.message());
    CHECK((!ec || ec == zk_errc::connection_loss));
    std::size_t holding = 0;
    for (const contender_info& c : contenders)
        holding += c.holds ? 1 : 0;
    return {.lost = bool(ec), .holding = holding};
}

/// One recipe of which one owner is made by `other`, and the call by which `asking` sees it.
struct look {
    const char* name;
    std::function<awaitable<ownership>(client& other, std::string path)> own;
    std::function<awaitable<told>(client& asking, std::string path)> see;
};

awaitable<ownership> own_lock(client& other, std::string path) {
    lock l(other, path);
    ownership held = co_await l.acquire();
    co_return held;
}

awaitable<ownership> own_permit(client& other, std::string path) {
    semaphore s(other, path, 2);
    ownership held = co_await s.acquire();
    co_return held;
}

awaitable<ownership> own_by_priority(client& other, std::string path) {
    priority_lock l(other, path);
    ownership held = co_await l.acquire(0);
    co_return held;
}

awaitable<told> lock_contenders(client& asking, std::string path) {
    lock l(asking, path);
    auto [ec, contenders] = co_await l.list_contenders(as_tuple());
    co_return count(ec, contenders);
}

awaitable<told> inspected(client& asking, std::string path) {
    contention_inspector inspector(asking, path);
    auto [ec, contenders] = co_await inspector.list_contenders(as_tuple());
    co_return count(ec, contenders);
}

awaitable<told> semaphore_holders(client& asking, std::string path) {
    semaphore s(asking, path, 2);
    auto [ec, holders] = co_await s.list_holders(as_tuple());
    co_return count(ec, holders);
}

awaitable<told> semaphore_available(client& asking, std::string path) {
    // Its own limit differs from the one that others have set.
    semaphore s(asking, path, 7);
    auto [ec, available] = co_await s.count_available(as_tuple());
    CAPTURE(ec.message());
    CHECK((!ec || ec == zk_errc::connection_loss));
    co_return told{.lost = bool(ec), .holding = std::size_t(2 - available)};
}

awaitable<told> priority_contenders(client& asking, std::string path) {
    priority_lock l(asking, path);
    auto [ec, contenders] = co_await l.list_contenders(as_tuple());
    co_return count(ec, contenders);
}

const std::vector<look>& looks() {
    static const std::vector<look> all{
        {"lock.list_contenders", own_lock, lock_contenders},
        {"contention_inspector.list_contenders", own_lock, inspected},
        {"semaphore.list_holders", own_permit, semaphore_holders},
        {"semaphore.count_available", own_permit, semaphore_available},
        {"priority_lock.list_contenders", own_by_priority, priority_contenders},
    };
    return all;
}

/// In a second session of `asking`, whose server knows of nothing without a `sync`.
template <class Disturb>
void look_again(const look& how, Disturb disturb, bool may_be_lost) {
    CAPTURE(how.name);
    with_proxy([&](client& asking, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client other = co_await one_more_client();
        ownership held = co_await how.own(other, path);
        co_await next_session_lags(asking, proxy, path);
        disturb(proxy);
        told first = co_await how.see(asking, path);
        CHECK((first.lost || first.holding == 1));
        CHECK((may_be_lost || !first.lost));
        told second = co_await how.see(asking, path);
        CHECK_FALSE(second.lost);
        CHECK(second.holding == 1);
        co_await held.release();
        co_await other.close();
    });
}

}  // namespace

TEST_CASE("inspection: contenders are seen although the server of a later session lags behind") {
    for (const look& how : looks())
        look_again(
            how, [](fault_proxy&) {}, false);
}

TEST_CASE("inspection: a connection lost at the sync hides no contender") {
    for (const look& how : looks()) {
        look_again(
            how,
            [](fault_proxy& proxy) { proxy.arm(at_op(op_code::sync), drop_request_and_cut()); },
            true);
        look_again(
            how,
            [](fault_proxy& proxy) { proxy.arm(at_op(op_code::sync), swallow_reply_and_cut()); },
            true);
    }
}

}  // namespace corozk::testing::inspection_test
