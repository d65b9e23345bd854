// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk/recipe/cache.hpp>

#include <boost/asio/deferred.hpp>

#include <catch2/catch.hpp>

#include <vector>

namespace corozk::testing::cache_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;

namespace {

template <class Cache, class State>
awaitable<void> next_begins_too_late(client& zk, std::string path) {
    Cache cache(zk, path);
    co_await cache.next(0, as_tuple());
    auto ask = [](Cache& c) { return c.next(7, boost::asio::deferred); };
    error_code ec = co_await begun_too_late<State>(zk, cache, ask);
    CHECK(ec == boost::asio::error::operation_aborted);
}

}  // namespace

TEST_CASE("node cache: creation, change, deletion") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        {
            node_cache cache(zk, path + "/n");
            node_state state = co_await cache.next();
            CHECK_FALSE(state.exists);
            admin hand(shared_server().port());
            hand.plant(path + "/n", "one");
            state = co_await cache.next(state.revision);
            CHECK(state.exists);
            CHECK(state.data == "one");
            for (int i = 0; i < 20; ++i)
                hand.set(path + "/n", std::to_string(i));
            while (state.data != "19")
                state = co_await cache.next(state.revision);
            CHECK(state.stat.version == 20);
            hand.erase(path + "/n");
            state = co_await cache.next(state.revision);
            CHECK_FALSE(state.exists);
            // Deleted and created again with the same version.
            hand.plant(path + "/n", "a");
            while (state.data != "a")
                state = co_await cache.next(state.revision);
            hand.erase(path + "/n");
            hand.plant(path + "/n", "b");
            while (state.data != "b")
                state = co_await cache.next(state.revision);
            CHECK(cache.current().data == "b");
            auto late = zk.counters().requests;
            CHECK(late > 0);
        }
        co_await eventually_async([&] { return watch_count(shared_server().port()) == 0; });
    });
}

TEST_CASE("children cache: names and data") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        admin hand(shared_server().port());
        hand.plant(path + "/c/a", "1");
        hand.plant(path + "/c/b", "2");
        children_cache cache(zk, path + "/c");
        tree_state state = co_await cache.next();
        CHECK(state.exists);
        CHECK(state.nodes->size() == 2);
        CHECK(state.nodes->at("a").data == "1");
        hand.set(path + "/c/a", "3");
        while (state.nodes->at("a").data != "3")
            state = co_await cache.next(state.revision);
        hand.erase(path + "/c/b");
        hand.plant(path + "/c/d", "4");
        while (state.nodes->contains("b") || !state.nodes->contains("d")) {
            state = co_await cache.next(state.revision);
        }
        CHECK(state.nodes->at("d").data == "4");
        hand.erase_recursively(path + "/c");
        while (state.exists)
            state = co_await cache.next(state.revision);
        CHECK(state.nodes->empty());
    });
}

TEST_CASE("tree cache: depth") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        admin hand(shared_server().port());
        hand.plant(path + "/a/b/c/d", "x");
        tree_cache whole(zk, path);
        tree_state state = co_await whole.next();
        CHECK(state.nodes->size() == 5);
        CHECK(state.nodes->at(path + "/a/b/c/d").data == "x");
        tree_cache shallow(zk, path, 2);
        state = co_await shallow.next();
        CHECK(state.nodes->size() == 3);
        client empty;
        tree_cache none(empty, path);
        auto [ec, nothing] = co_await none.next(0, as_tuple());
        CHECK(ec == errc::closed);
    });
}

TEST_CASE("cache: what begins after the cache was destroyed is aborted") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await next_begins_too_late<node_cache, node_state>(zk, path);
        co_await next_begins_too_late<children_cache, tree_state>(zk, path);
        co_await next_begins_too_late<tree_cache, tree_state>(zk, path);
        // Whose root may not be read, too.
        std::vector<testing::acl_entry> no_read(1);
        no_read.front().permissions = 2 + 4 + 8 + 16;
        observer().plant(path, "", node_kind::persistent, no_read);
        co_await next_begins_too_late<node_cache, node_state>(zk, path);
        co_await next_begins_too_late<children_cache, tree_state>(zk, path);
        co_await next_begins_too_late<tree_cache, tree_state>(zk, path);
    });
}

TEST_CASE("cache: cancelled, destroyed, closed") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        auto cache = std::make_unique<node_cache>(zk, path);
        node_state state = co_await cache->next();
        boost::asio::cancellation_signal cancel;
        int completed = 0;
        error_code first;
        error_code second;
        cache->next(
            state.revision,
            boost::asio::bind_cancellation_slot(cancel.slot(), [&](error_code ec, node_state) {
                first = ec;
                ++completed;
            }));
        cancel.emit(boost::asio::cancellation_type::total);
        co_await eventually_async([&] { return completed == 1; });
        CHECK(first == boost::asio::error::operation_aborted);
        cache->next(state.revision, [&](error_code ec, node_state) {
            second = ec;
            ++completed;
        });
        cache.reset();
        co_await eventually_async([&] { return completed == 2; });
        CHECK(second == boost::asio::error::operation_aborted);
        node_cache other(zk, path);
        state = co_await other.next();
        other.next(state.revision, [&](error_code ec, node_state) {
            second = ec;
            ++completed;
        });
        co_await zk.close();
        co_await eventually_async([&] { return completed == 3; });
        CHECK(second == errc::closed);
    });
}

}  // namespace corozk::testing::cache_test
