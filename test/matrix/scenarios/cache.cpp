// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include <corozk/recipe/cache.hpp>

namespace corozk::matrix {

namespace cache_scenarios {

std::string path(const stage& s) {
    return s.folder() + "/root";
}

awaitable<void> write(stage& s, std::string to, std::string data) {
    create_options options;
    options.acl = s.entries().empty() ? nullptr : &s.entries();
    co_await s.theirs().ensure_path(path(s), options);
    auto [ec, node] = co_await s.theirs().create(to, data, options, as_tuple());
    if (ec == zk_errc::node_exists)
        co_await s.theirs().set(to, data);
}

/// A cache of another client comes to the server's state.
awaitable<void> probe(client& c, stage& s) {
    tree_cache cache(c, path(s));
    co_await write(s, path(s) + "/last", "1");
    tree_state state = co_await cache.next();
    while (!state.nodes || !state.nodes->contains(path(s) + "/last"))
        state = co_await cache.next(state);
}

bool has(const tree_state& state, const std::string& at, const std::string& data) {
    if (!state.nodes)
        return false;
    auto found = state.nodes->find(at);
    return found != state.nodes->end() && found->second.data == data;
}

cache_options one_shot() {
    cache_options options;
    options.one_shot_watches = true;
    return options;
}

awaitable<void> follow_tree_with(stage& s, const cache_options& options) {
    object<tree_cache> cache(s, s.ours(), path(s), tree_cache::unlimited, options);
    std::string a = path(s) + "/a";
    tree_state seen;
    for (const char* data : {"1", "2"}) {
        co_await write(s, a, data);
        for (;;) {
            call<tree_state> next(s, "next");
            cache->next(seen, next.token());
            tree_state state = co_await next.result();
            s.check(state.revision != seen.revision, "a state is not told twice");
            seen = state;
            if (has(state, a, data))
                break;
            s.check(!s.forbidden(), "who may not read is told nothing");
        }
        std::string name = std::string("has ") + data;
        co_await s.state(name);
    }
    call<tree_state> last(s, "next after the last");
    cache->next(seen, last.token());
    co_await s.state("waiting");
    co_await write(s, a, "3");
    for (;;) {
        tree_state state = co_await last.result();
        if (has(state, a, "3"))
            break;
        seen = state;
        call<tree_state> more(s, "next");
        cache->next(seen, more.token());
        state = co_await more.result();
        if (has(state, a, "3"))
            break;
        seen = state;
    }
}

awaitable<void> follow_tree(stage& s) {
    const cache_options options;
    co_await follow_tree_with(s, options);
}

awaitable<void> follow_tree_one_shot(stage& s) {
    const cache_options options = one_shot();
    co_await follow_tree_with(s, options);
}

/// The selected part of the tree at the server, but for what foreign_children plants.
std::map<std::string, std::string> tree_at_server(stage& s, const cache_options& options) {
    std::map<std::string, std::string> result;
    if (!s.exists(path(s)))
        return result;
    result[path(s)] = s.data(path(s));
    for (const std::string& at : s.observer().tree(s.set().root + path(s))) {
        if (!options.filter || options.filter(at))
            result[at] = s.observer().data(at);
    }
    return result;
}

/// Nodes that come, change, go, and come again, with their parents.
awaitable<void> follow_selected(stage& s, const cache_options& options) {
    std::string root = path(s);
    testing::admin& hand = s.observer();
    hand.plant(root + "/a/b", "1");
    object<tree_cache> cache(s, s.ours(), root, tree_cache::unlimited, options);
    tree_state seen;
    auto follow = [&]() -> awaitable<void> {
        const auto expected = tree_at_server(s, options);
        std::map<std::string, std::string> known;
        bool first = true;
        while (first || known != expected) {
            call<tree_state> next(s, "next");
            cache->next(seen, next.token());
            tree_state state = co_await next.result();
            seen = state;
            known.clear();
            if (state.nodes) {
                for (const auto& [at, node] : *state.nodes)
                    known[at] = node.data;
            }
            first = false;
        }
    };
    co_await follow();
    co_await s.state("read");
    hand.set(root + "/a/b", "2");
    hand.plant(root + "/a/c", "3");
    hand.erase(root + "/a/b");
    hand.plant(root + "/a/b", "4");
    co_await follow();
    co_await s.state("changed");
    hand.erase_recursively(root);
    co_await follow();
    co_await s.state("gone");
    hand.plant(root + "/x", "5");
    co_await follow();
}

awaitable<void> follow_changes(stage& s) {
    const cache_options all_nodes;
    co_await follow_selected(s, all_nodes);
}

awaitable<void> follow_changes_one_shot(stage& s) {
    const cache_options options = one_shot();
    co_await follow_selected(s, options);
}

awaitable<void> follow_filtered(stage& s) {
    cache_options options;
    options.filter = [](std::string_view at) { return !at.ends_with("/c"); };
    co_await follow_selected(s, options);
}

awaitable<void> follow_node(stage& s) {
    object<node_cache> cache(s, s.ours(), path(s) + "/a");
    node_state seen;
    for (const char* data : {"1", "2"}) {
        call<node_state> next(s, "next");
        cache->next(seen, next.token());
        std::string name = std::string("before ") + data;
        co_await s.state(name);
        co_await write(s, path(s) + "/a", data);
        node_state state = co_await next.result();
        if (s.forbidden()) {
            s.check(state.data.empty(), "what may not be read has no data");
            co_return;
        }
        for (seen = state; state.data != data; seen = state) {
            call<node_state> more(s, "next");
            cache->next(seen, more.token());
            state = co_await more.result();
        }
    }
}

awaitable<void> follow_children(stage& s) {
    object<children_cache> cache(s, s.ours(), path(s));
    co_await write(s, path(s) + "/a", "1");
    tree_state seen;
    for (const char* name : {"a", "b"}) {
        co_await write(s, path(s) + "/" + name, "1");
        for (;;) {
            call<tree_state> next(s, "next");
            cache->next(seen, next.token());
            tree_state state = co_await next.result();
            s.check(state.revision != seen.revision, "a state is not told twice");
            seen = state;
            s.check(!s.forbidden(), "who may not read is told nothing");
            if (has(state, name, "1"))
                break;
        }
        std::string at = std::string("has ") + name;
        co_await s.state(at);
    }
}

scenario make(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s;
    s.recipe = "cache";
    s.name = std::move(name);
    s.play = play;
    s.probe = probe;
    s.outlives_session = true;
    s.may_stay = [](stage&, const std::string& below) {
        return below == "root" || below.starts_with("root/");
    };
    s.foreign_in = "/root";
    s.without[fault::own_node_deleted] = "a cache has no node";
    return s;
}

/// Under faults at requests: `tree` is played under the others.
scenario at_requests_only(std::string name, awaitable<void> (*play)(stage&)) {
    scenario s = make(std::move(name), play);
    s.only(at_requests, other_requests);
    return s;
}

const registered all[] = {
    registered(make("tree", follow_tree)),
    registered(make("tree, one-shot", follow_tree_one_shot)),
    registered(at_requests_only("changes", follow_changes)),
    registered(at_requests_only("changes, one-shot", follow_changes_one_shot)),
    registered(at_requests_only("filtered", follow_filtered)),
    registered(make("children", follow_children)),
    registered([] {
        scenario s = make("node", follow_node);
        s.needs_no_permission = true;  // to ask for a node that is not there
        return s;
    }()),
};

}  // namespace cache_scenarios

}  // namespace corozk::matrix
