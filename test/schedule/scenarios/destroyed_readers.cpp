// SPDX-License-Identifier: Apache-2.0
// Caches and configurations: no watch is left of who reads, and nothing half of who writes.
#include "destroyed.hpp"
#include <corozk/recipe/cache.hpp>
#include <corozk/recipe/configuration.hpp>

#include <optional>
#include <string>

namespace corozk::schedule {

namespace destroyed_readers_scenarios {

template <class Cache>
awaitable<void> use_cache(actor& a, std::optional<Cache>& cache) {
    decltype(cache->current()) seen;
    for (int i = 0; i < 3 && cache; ++i) {
        auto token = a.token();
        auto [ec, state] = co_await cache->next(seen, token);
        if (!goes_on(a, cache, ec, "next"))
            co_return;
        seen = state;
    }
}

/// As far as it comes; what is left of it has no watches.
awaitable<void> write_nodes(actor& a) {
    auto firm = a.firm_token();
    create_options plain;
    co_await a.zk().create("/f", "", plain, firm);
    co_await a.zk().create("/f/a", "1", plain, firm);
    co_await a.zk().set("/f", "2", any_version, firm);
    co_await a.zk().set("/f/a", "2", any_version, firm);
    co_await a.zk().erase("/f/a", any_version, firm);
    co_await a.zk().create("/f/a", "3", plain, firm);
}

void a_one_shot_cache(stage& s) {
    cache_options options;
    options.one_shot_watches = true;
    play_until_destroyed<tree_cache>(
        s, tree_cache(s.zk(0), folder, tree_cache::unlimited, options), use_cache<tree_cache>);
    s.play("writer", 1, write_nodes);
}

template <class Cache>
void a_cache(stage& s) {
    play_until_destroyed<Cache>(s, Cache(s.zk(0), folder), use_cache<Cache>);
    s.play("writer", 1, write_nodes);
}

configuration_parts parts_of(const std::string& value) {
    configuration_parts parts;
    parts["one"] = value;
    parts["two"] = value;
    return parts;
}

template <class Layout>
awaitable<void> use_configuration(actor& a, std::optional<Layout>& mine) {
    configuration_version seen;
    for (int i = 0; i < 2 && mine; ++i) {
        auto token = a.token();
        auto [ec, v] = co_await mine->next(seen, token);
        if (!goes_on(a, mine, ec, "next"))
            co_return;
        seen = v;
        bool whole = !v.parts || *v.parts == parts_of(v.parts->at("one"));
        a.on().check(whole, "a version is not whole");
    }
}

template <class Layout>
awaitable<void> publish_both(actor& a) {
    Layout mine(a.zk(), "/f/c");
    for (const char* value : {"1", "2"}) {
        auto firm = a.firm_token();
        auto [ec] = co_await mine.publish(parts_of(value), firm);
        if (ec != errc::busy)
            a.may_see(ec, "publish");
    }
}

template <class Layout>
void a_configuration(stage& s) {
    play_until_destroyed<Layout>(s, Layout(s.zk(0), "/f/c"), use_configuration<Layout>);
    s.play("writer", 1, publish_both<Layout>);
}

template <class Layout>
awaitable<void> write_configuration(actor& a, std::optional<Layout>& mine) {
    if (!mine)
        co_return;
    auto firm = a.firm_token();
    auto [ec] = co_await mine->publish(parts_of("0"), firm);
    bool in_between =
        a.on().any_fault() && (ec == errc::ownership_lost || ec == zk_errc::connection_loss);
    if (ec != errc::busy && !in_between)
        goes_on(a, mine, ec, "publish");
}

/// Two write; what is published in the end is whole.
template <class Layout>
awaitable<void> publish_for_certain(actor& a) {
    Layout mine(a.zk(), "/f/c");
    auto firm = a.firm_token();
    for (;;) {
        auto [ec] = co_await mine.publish(parts_of("1"), firm);
        if (!ec)
            break;
        bool in_between =
            a.on().any_fault() && (ec == errc::ownership_lost || ec == zk_errc::connection_loss);
        if (ec != errc::busy && !in_between && !a.may_see(ec, "publish"))
            co_return;
        co_await pause();
    }
    auto [ec, v] = co_await mine.next(firm);
    if (!a.may_see(ec, "next") || ec)
        co_return;
    if (v.status == configuration_status::published)
        a.on().check(*v.parts == parts_of(v.parts->at("one")), "a version is not whole");
}

template <class Layout>
void a_writer(stage& s) {
    play_until_destroyed<Layout>(s, Layout(s.zk(0), "/f/c"), write_configuration<Layout>);
    s.play("other", 1, publish_for_certain<Layout>);
}

const registered all[] = {
    registered(scenario("destroyed.children_cache", 2, a_cache<children_cache>).with_child_stats()),
    registered(scenario("destroyed.tree_cache-one-shot", 2, a_one_shot_cache).with_child_stats()),
    registered(scenario("destroyed.node_cache", 2, a_cache<node_cache>).with_child_stats()),
    registered(scenario("destroyed.tree_cache", 2, a_cache<tree_cache>).with_child_stats()),
    registered(
        scenario("destroyed.ready", 2, a_configuration<ready_configuration>).with_child_stats()),
    registered(scenario("destroyed.versions", 2, a_configuration<versioned_configuration>)
                   .with_child_stats()),
    registered(scenario("destroyed.ready-writer", 2, a_writer<ready_configuration>)
                   .with_child_stats()
                   .uncancelled()),
    registered(scenario("destroyed.versions-writer", 2, a_writer<versioned_configuration>)
                   .with_child_stats()
                   .uncancelled()),
};

}  // namespace destroyed_readers_scenarios

}  // namespace corozk::schedule
