// SPDX-License-Identifier: Apache-2.0
// The recursive watch of caches: what it costs, and servers that have none.
#include "old_server.hpp"
#include "own_requests.hpp"
#include "pending_result.hpp"
#include <corozk/recipe/cache.hpp>

#include <catch2/catch.hpp>

#include <map>
#include <string>

namespace corozk::testing::cache_watch_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

std::map<std::string, std::string> data_of(const tree_state& state) {
    std::map<std::string, std::string> result;
    if (!state.nodes)
        return result;
    for (const auto& [path, node] : *state.nodes)
        result[path] = node.data;
    return result;
}

std::map<std::string, std::string> tree_at_server(const std::string& root) {
    std::map<std::string, std::string> result;
    admin hand(shared_server().port());
    if (hand.exists(root))
        result[root] = hand.data(root);
    for (const std::string& path : hand.tree(root))
        result[path] = hand.data(path);
    return result;
}

// Servers before 3.9 count a recursive watch in both of their tables.
constexpr std::int64_t one_watch = 2;

/// Creates the children `first` to `end - 1`.
void add_children(transaction& steps, const std::string& parent, int first, int end) {
    for (int i = first; i < end; ++i)
        steps.create(parent + "/" + std::to_string(i), "data");
}

/// Changes of all kinds, after which the cache must be equal to the server.
awaitable<void> follow_changes(tree_cache& cache, std::string root) {
    admin hand(shared_server().port());
    auto equal = [&]() -> awaitable<void> {
        auto expected = tree_at_server(root);
        co_await eventually_async([&] { return data_of(cache.current()) == expected; });
    };
    co_await equal();
    hand.plant(root + "/a/b/c", "1");
    co_await equal();
    hand.set(root + "/a/b", "2");
    hand.erase(root + "/a/b/c");
    hand.plant(root + "/a/b/c/d", "3");
    co_await equal();
    hand.erase_recursively(root);
    co_await equal();
    hand.plant(root + "/a", "4");
    co_await equal();
    hand.erase_recursively(root);
}

}  // namespace

TEST_CASE("cache: a large tree costs one watch, and a change one read") {
    static constexpr int folders = 50;
    static constexpr int nodes_each = 1'000;
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            const auto before = watch_count(shared_server().port());
            co_await zk.create(path);
            for (int i = 0; i < folders; ++i) {
                std::string folder = path + "/" + std::to_string(i);
                transaction steps;
                steps.create(folder);
                add_children(steps, folder, 1, nodes_each);
                co_await zk.commit(steps);
            }
            {
                tree_cache cache(zk, path);
                tree_state state = co_await cache.next();
                CHECK(state.nodes->size() == 1 + folders * nodes_each);
                CHECK(watch_count(shared_server().port()) - before <= one_watch);
                const rule_id requests = count(proxy, at_own_request(path));
                co_await zk.set(path + "/7/7", "other");
                state = cache.current();
                CHECK(state.nodes->at(path + "/7/7").data == "other");
                CHECK(proxy.fired(requests) == 2);
                co_await zk.create(path + "/7/new");
                CHECK(cache.current().nodes->contains(path + "/7/new"));
                CHECK(proxy.fired(requests) == 4);
                co_await zk.erase(path + "/7/7");
                CHECK_FALSE(cache.current().nodes->contains(path + "/7/7"));
                CHECK(proxy.fired(requests) == 5);
            }
            co_await eventually_async(
                [&] { return watch_count(shared_server().port()) == before; });
            co_await zk.erase_tree(path);
        },
        180s,
        steady_session);
}

TEST_CASE("cache: many children cost one watch") {
    static constexpr int children = 50'000;
    static constexpr int at_once = 1'000;
    with_client(
        [](client& zk, std::string path) -> awaitable<void> {
            const auto before = watch_count(shared_server().port());
            co_await zk.create(path);
            for (int i = 0; i < children; i += at_once) {
                transaction steps;
                add_children(steps, path, i, i + at_once);
                co_await zk.commit(steps);
            }
            {
                children_cache cache(zk, path);
                tree_state state = co_await cache.next();
                CHECK(state.nodes->size() == children);
                const auto watches = watch_count(shared_server().port()) - before;
                CHECK(watches >= 1);
                CHECK(watches <= one_watch);
                co_await zk.set(path + "/777", "other");
                CHECK(cache.current().nodes->at("777").data == "other");
            }
            co_await eventually_async(
                [&] { return watch_count(shared_server().port()) == before; });
            co_await zk.erase_tree(path);
        },
        180s,
        steady_session);
}

TEST_CASE("cache: at a server without recursive watches there are one-shot watches") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        forget_operations(proxy, {op_code::add_watch});
        co_await zk.ensure_path(path + "/a/b");
        tree_cache cache(zk, path);
        co_await cache.next();
        CHECK(watches_below(shared_server().port(), path) > 1);
        co_await follow_changes(cache, path);
        // It is not asked for ever, neither now nor after a reconnect.
        const auto asked = proxy.statistics().requests_of(op_code::add_watch);
        proxy.cut();
        co_await follow_changes(cache, path);
        CHECK(proxy.statistics().requests_of(op_code::add_watch) <= asked + 1);
    });
}

TEST_CASE("cache: moves to a server that has no recursive watches, and back") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        tree_cache cache(zk, path);
        co_await follow_changes(cache, path);
        for (bool expired : {false, true}) {
            forget_operations(proxy,
                              {op_code::add_watch, op_code::set_watches2, op_code::multi_read});
            if (expired)
                expire(proxy.session());
            proxy.cut();
            co_await follow_changes(cache, path);
            forget_operations(proxy, {});
            if (expired)
                expire(proxy.session());
            proxy.cut();
            co_await follow_changes(cache, path);
        }
    });
}

TEST_CASE("cache: other watches on the same nodes do not disturb it") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path + "/a");
        tree_cache cache(zk, path);
        children_cache children(zk, path);
        co_await cache.next();
        co_await children.next();
        admin hand(shared_server().port());
        for (int i = 0; i < 3; ++i) {
            auto [data, changed] = co_await zk.watch_data(path);
            auto [names, more] = co_await zk.watch_children(path);
            hand.set(path, std::to_string(i));
            co_await changed.next();
            hand.plant(path + "/" + std::to_string(i), "x");
            co_await more.next();
            {
                node_cache node(zk, path);
                tree_cache too(zk, path);
                co_await node.next();
                co_await too.next();
            }
            hand.set(path + "/a", std::to_string(i));
            auto expected = tree_at_server(path);
            co_await eventually_async([&] { return data_of(cache.current()) == expected; });
            co_await eventually_async(
                [&] { return data_of(children.current()).at("a") == std::to_string(i); });
        }
    });
}

}  // namespace corozk::testing::cache_watch_test
