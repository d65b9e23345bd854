// SPDX-License-Identifier: Apache-2.0
// A folder with a quota that the server enforces (ZOOKEEPER-451): what does not fit says so, and what
// is inside is not harmed.
#include "client_fixture.hpp"
#include <corozk.hpp>

#include <catch2/catch.hpp>

#include <string>

namespace corozk::testing::client_tests::quota_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

server& frugal_server() {
    server_options options = client_server_options();
    options.java_properties.push_back("zookeeper.enforceQuota=true");
    static server instance(options);
    return instance;
}

/// @param nodes  that may be there, the folder among them
void limit(const std::string& folder, int nodes) {
    admin hand(frugal_server().port());
    hand.plant(folder);
    std::string quota = "/zookeeper/quota" + folder;
    hand.plant(quota + "/zookeeper_limits",
               "count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=" + std::to_string(nodes));
    hand.plant(quota + "/zookeeper_stats", "count=1,bytes=0");
}

/// @param bytes  of data that may be there
void limit_bytes(const std::string& folder, int bytes) {
    admin hand(frugal_server().port());
    hand.plant(folder);
    std::string quota = "/zookeeper/quota" + folder;
    hand.plant(quota + "/zookeeper_limits",
               "count=-1,bytes=-1=;byteHardLimit=" + std::to_string(bytes) + ";countHardLimit=-1");
    hand.plant(quota + "/zookeeper_stats", "count=1,bytes=0");
}

template <class Body>
void with_frugal_client(Body body) {
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        client zk(co_await boost::asio::this_coro::executor,
                  quiet_options(frugal_server().hosts()));
        co_await zk.connect();
        co_await body(zk);
        co_await zk.close();
    });
    run_to_idle(context);
}

}  // namespace

TEST_CASE("quota: a node too many is refused in words") {
    limit("/plain", 2);
    with_frugal_client([](client& zk) -> awaitable<void> {
        co_await zk.create("/plain/a");
        auto [ec, path] = co_await zk.create("/plain/b", "", create_options(), as_tuple());
        CHECK(ec == zk_errc::quota_exceeded);
        CHECK_THAT(ec.message(), Contains("quota"));
        CHECK_FALSE(is_recoverable(ec));
    });
}

TEST_CASE("quota: a lock with too many contenders keeps its owner, and serves the next one later") {
    limit("/lock", 2);
    with_frugal_client([](client& zk) -> awaitable<void> {
        lock l(zk, "/lock");
        ownership held = co_await l.acquire();
        auto [ec, none] = co_await l.acquire(as_tuple());
        CHECK(ec == zk_errc::quota_exceeded);
        CHECK(held.valid());
        co_await held.release();
        ownership next = co_await l.acquire();
        CHECK(next.valid());
        co_await next.release();
    });
}

TEST_CASE("quota: a full queue refuses an item and goes on when there is room") {
    limit("/queue", 3);
    with_frugal_client([](client& zk) -> awaitable<void> {
        queue q(zk, "/queue");
        co_await q.put("a");
        co_await q.put("b");
        auto [ec] = co_await q.put("c", as_tuple());
        CHECK(ec == zk_errc::quota_exceeded);
        queue_item item = co_await q.take();
        CHECK(item.data == "a");
        co_await q.put("d");
        item = co_await q.take();
        CHECK(item.data == "b");
        item = co_await q.take();
        CHECK(item.data == "d");
    });
}

TEST_CASE("quota: an item that does not fit is refused, and not those that are put with it") {
    limit_bytes("/bytes", 40);
    with_frugal_client([](client& zk) -> awaitable<void> {
        queue q(zk, "/bytes");
        outcome<> first, large, small;
        q.put("a", first.handler());
        // These share a request.
        q.put(std::string(100, 'x'), large.handler());
        q.put("b", small.handler());
        co_await eventually_async([&] { return small.done(); });
        CHECK(!first.error());
        CHECK(large.error() == zk_errc::quota_exceeded);
        CHECK(!small.error());
        std::size_t size = co_await q.count_items();
        CHECK(size == 2);
    });
}

TEST_CASE("quota: a member whose new data does not fit stays one with the old") {
    limit_bytes("/members", 20);
    with_frugal_client([](client& zk) -> awaitable<void> {
        membership m(zk, "/members");
        co_await m.join("me", "small");
        auto [ec] = co_await m.set_data(std::string(100, 'x'), as_tuple());
        CHECK(ec == zk_errc::quota_exceeded);
        CHECK(m.joined());
        CHECK(m.name() == "me");
        admin hand(frugal_server().port());
        CHECK(hand.data("/members/me") == "small");
        co_await m.set_data("other");
        CHECK(hand.data("/members/me") == "other");
        co_await m.leave();
        CHECK_FALSE(hand.exists("/members/me"));
    });
}

}  // namespace corozk::testing::client_tests::quota_test
