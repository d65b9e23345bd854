// SPDX-License-Identifier: Apache-2.0
// No state is older than one that was told before, and when nobody writes any more the cache comes to
// the servers' own state.
#include "patience.hpp"
#include "turns.hpp"
#include <corozk/recipe/cache.hpp>

#include <map>
#include <string>

namespace corozk::schedule {

namespace cache_scenarios {

constexpr const char* path = "/f";

struct step {
    enum { create, set, erase } what;
    const char* node;
    const char* value;
};

/// With requests of the client, again until they are done: what is done twice does no harm.
template <std::size_t Count>
awaitable<void> write(actor& a, const step (&steps)[Count]) {
    auto firm = a.firm_token();
    for (const step& one : steps) {
        error_code ec = zk_errc::connection_loss;
        while (ec) {
            if (one.what == step::create) {
                auto [created, node] =
                    co_await a.zk().create(one.node, one.value, create_options(), firm);
                ec = created == zk_errc::node_exists ? error_code() : created;
            } else if (one.what == step::set) {
                auto [set, stat] = co_await a.zk().set(one.node, one.value, any_version, firm);
                ec = set;
            } else {
                auto [erased] = co_await a.zk().erase(one.node, any_version, firm);
                ec = erased == zk_errc::no_node ? error_code() : erased;
            }
            if (ec)
                co_await pause();
        }
    }
}

constexpr step one_node[] = {{step::create, "/f", "1"},
                             {step::set, "/f", "2"},
                             {step::erase, "/f", ""},
                             {step::create, "/f", "3"}};
constexpr step no_node_any_more[] = {{step::erase, "/f", ""}};

constexpr step several_nodes[] = {{step::create, "/f", ""},
                                  {step::create, "/f/a", "1"},
                                  {step::create, "/f/b", "1"},
                                  {step::set, "/f/a", "2"},
                                  {step::erase, "/f/b", ""},
                                  {step::create, "/f/end", ""}};
constexpr step none_any_more[] = {
    {step::erase, "/f/a", ""}, {step::erase, "/f/end", ""}, {step::erase, "/f", ""}};

awaitable<void> write_one(actor& a) {
    co_await write(a, one_node);
    co_await until_noted(a, "over");
    co_await write(a, no_node_any_more);
}

awaitable<void> write_several(actor& a) {
    co_await write(a, several_nodes);
    co_await until_noted(a, "over");
    co_await write(a, none_any_more);
}

awaitable<void> follow_one(actor& a) {
    noted_at_the_end over(a, "over");
    node_cache cache(a.zk(), path);
    node_state seen;
    std::int64_t latest = 0;
    for (std::string last; last != "3";) {
        auto token = a.token();
        auto [ec, state] = co_await cache.next(seen, token);
        if (!a.may_see(ec, "next") || ec)
            co_return;
        a.on().check(state.revision != seen.revision, "the same state twice");
        seen = state;
        if (!state.exists)
            continue;
        a.on().check(state.stat.mzxid > std::exchange(latest, state.stat.mzxid),
                     "an older state comes later");
        last = state.data;
    }
}

/// Whether what was seen of each node is newer than before.
void see(actor& a, std::map<std::string, std::int64_t>& latest, const tree_state& state) {
    if (!state.nodes)
        return;
    for (const auto& [name, node] : *state.nodes) {
        a.on().check(node.stat.mzxid >= latest[name], "an older state of " + name + " comes later");
        latest[name] = node.stat.mzxid;
    }
}

template <class Cache>
awaitable<void> follow_several(actor& a, Cache cache, std::string prefix) {
    noted_at_the_end over(a, "over");
    std::map<std::string, std::int64_t> latest;
    tree_state state;
    auto value_of = [&](const std::string& name) -> std::string {
        auto at = state.nodes ? state.nodes->find(prefix + name) : decltype(state.nodes->end())();
        return !state.nodes || at == state.nodes->end() ? "nothing" : at->second.data;
    };
    while (value_of("end") != "" || value_of("a") != "2" || value_of("b") != "nothing") {
        auto token = a.token();
        auto [ec, next] = co_await cache.next(state, token);
        if (!a.may_see(ec, "next") || ec)
            co_return;
        a.on().check(next.revision != state.revision, "the same state twice");
        state = next;
        see(a, latest, state);
    }
}

awaitable<void> follow_children(actor& a) {
    children_cache cache(a.zk(), path);
    co_await follow_several(a, std::move(cache), "");
}

awaitable<void> follow_tree(actor& a) {
    tree_cache cache(a.zk(), path);
    co_await follow_several(a, std::move(cache), "/f/");
}

awaitable<void> follow_tree_one_by_one(actor& a) {
    cache_options options;
    options.one_shot_watches = true;
    tree_cache cache(a.zk(), path, tree_cache::unlimited, options);
    co_await follow_several(a, std::move(cache), "/f/");
}

void node(stage& s) {
    play_all(s, {{"writer", write_one}, {"reader", follow_one}});
}

void children(stage& s) {
    play_all(s, {{"writer", write_several}, {"reader", follow_children}});
}

void one_by_one(stage& s) {
    play_all(s, {{"writer", write_several}, {"reader", follow_tree_one_by_one}});
}

void tree(stage& s) {
    play_all(s, {{"writer", write_several}, {"reader", follow_tree}});
}

const registered all[] = {
    registered(scenario("cache.children", 2, children).with_child_stats()),
    registered(scenario("cache.node", 2, node).with_child_stats()),
    registered(scenario("cache.tree", 2, tree).with_child_stats()),
    registered(scenario("cache.tree", 2, tree).with_child_stats().at_old_servers()),
    registered(scenario("cache.tree-one-shot", 2, one_by_one).with_child_stats()),
};

}  // namespace cache_scenarios

}  // namespace corozk::schedule
