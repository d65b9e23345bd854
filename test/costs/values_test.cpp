// SPDX-License-Identifier: Apache-2.0
#include "engine/meter.hpp"
#include <corozk/recipe/cache.hpp>
#include <corozk/recipe/configuration.hpp>
#include <corozk/recipe/counter.hpp>

#include <catch2/catch.hpp>

#include <functional>
#include <string>

namespace corozk::testing::values_test {

using boost::asio::awaitable;

TEST_CASE("costs: counter") {
    costs_of("counter", 2, [](meter& m) {
        counter mine(m[0], m.path() + "/a"), theirs(m[1], m.path() + "/a");
        auto add = [&]() -> awaitable<void> { co_await mine.add(1); };
        m.count("the first add", add);
        m.count("add", add);
        m.count_steps("100 additions at the same time", [&] { m.begin_many(100, add); });
        m.count("get", [&]() -> awaitable<void> { co_await mine.get(); });
        m.count("exchange", [&]() -> awaitable<void> { co_await mine.exchange(100); });
        m.count("compare_and_set",
                [&]() -> awaitable<void> { co_await mine.compare_and_set(100, 200); });
        m.run([&]() -> awaitable<void> { co_await theirs.add(1); });
        m.count("add after somebody else's", add);
        // It is this one's turn; after 16 it lets the other one have its own.
        m.count("20 additions, one by one, after somebody else's", [&]() -> awaitable<void> {
            for (int i = 0; i < 20; ++i)
                co_await mine.add(1);
        });
    });
}

TEST_CASE("costs: node_cache") {
    costs_of("node_cache", 2, [](meter& m) {
        std::string node = m.path();
        m.run([&]() -> awaitable<void> { co_await m[0].create(node, "data"); });
        node_cache cache;
        m.count("beginning", [&]() -> awaitable<void> {
            cache = node_cache(m[1], node);
            co_await cache.next();
        });
        m.count("a change is seen", [&]() -> awaitable<void> {
            co_await m[0].set(node, "other");
            co_await cache.next(cache.current());
        });
        m.count("ending", [&]() -> awaitable<void> {
            cache = node_cache();
            co_return;
        });
    });
}

namespace {

/// A child is created, changed, and deleted.
template <class Cache>
void count_children(meter& m, const std::function<Cache(client&, const std::string&)>& make) {
    const std::string& top = m.path();
    m.run([&]() -> awaitable<void> { co_await m[0].ensure_path(top); });
    for (int i = 0; i < 10; ++i) {
        m.run([&, child = top + "/child-" + std::to_string(i)]() -> awaitable<void> {
            co_await m[0].create(child, "data");
        });
    }
    Cache cache;
    m.count("beginning with 10 children", [&]() -> awaitable<void> {
        cache = make(m[1], top);
        tree_state state = co_await cache.next();
        REQUIRE(state.nodes->size() >= 10);
    });
    std::string child = top + "/child-x";
    m.count("a child is created", [&]() -> awaitable<void> {
        co_await m[0].create(child, "data");
        co_await cache.next(cache.current());
    });
    m.count("a child is changed", [&]() -> awaitable<void> {
        co_await m[0].set(child, "other");
        co_await cache.next(cache.current());
    });
    m.count("a child is deleted", [&]() -> awaitable<void> {
        co_await m[0].erase(child);
        co_await cache.next(cache.current());
    });
    m.count("ending", [&]() -> awaitable<void> {
        cache = Cache();
        co_return;
    });
}

}  // namespace

TEST_CASE("costs: children_cache") {
    auto make = [](client& zk, const std::string& path) { return children_cache(zk, path); };
    costs_of("children_cache", 2, [&](meter& m) { count_children<children_cache>(m, make); });
}

TEST_CASE("costs: tree_cache") {
    auto make = [](client& zk, const std::string& path) { return tree_cache(zk, path); };
    costs_of("tree_cache", 2, [&](meter& m) { count_children<tree_cache>(m, make); });
    auto make_one_shot = [](client& zk, const std::string& path) {
        cache_options options;
        options.one_shot_watches = true;
        return tree_cache(zk, path, tree_cache::unlimited, options);
    };
    costs_of("tree_cache, one-shot watches", 2, [&](meter& m) {
        count_children<tree_cache>(m, make_one_shot);
    });
}

namespace {

/// Of one session; another one follows.
template <class Configuration, class Value>
void count_publishing(meter& m, const Value& value) {
    Configuration mine(m[0], m.path()), theirs;
    auto publish = [&]() -> awaitable<void> { co_await mine.publish(value); };
    m.count("the first is published", publish);
    m.count("reading it", [&]() -> awaitable<void> {
        theirs = Configuration(m[1], m.path());
        co_await theirs.next();
    });
    m.run(publish);
    m.count("another one is published and seen", publish);
}

}  // namespace

TEST_CASE("costs: configuration") {
    costs_of("configuration", 2, [](meter& m) {
        count_publishing<configuration>(m, std::string("value"));
    });
    configuration_parts parts;
    parts["host"] = "db";
    parts["port"] = "5432";
    costs_of("ready_configuration", 2, [&](meter& m) {
        count_publishing<ready_configuration>(m, parts);
    });
    costs_of("versioned_configuration", 2, [&](meter& m) {
        count_publishing<versioned_configuration>(m, parts);
    });
}

}  // namespace corozk::testing::values_test
