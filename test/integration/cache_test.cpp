// SPDX-License-Identifier: Apache-2.0
#include "pending_result.hpp"
#include <corozk.hpp>

#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>

#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace corozk::testing::cache_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;

namespace {

cache_options one_shot() {
    cache_options options;
    options.one_shot_watches = true;
    return options;
}

/// Both forms of watches.
const cache_options both_forms[] = {cache_options(), one_shot()};

template <class Cache, class State>
awaitable<void> next_begins_too_late(client& zk, std::string path) {
    Cache cache(zk, path);
    co_await cache.next(as_tuple());
    State seen;
    seen.revision = 7;
    auto ask = [&seen](Cache& c) { return c.next(seen, boost::asio::deferred); };
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
            state = co_await cache.next(state);
            CHECK(state.exists);
            CHECK(state.data == "one");
            for (int i = 0; i < 20; ++i)
                hand.set(path + "/n", std::to_string(i));
            while (state.data != "19")
                state = co_await cache.next(state);
            CHECK(state.stat.version == 20);
            hand.erase(path + "/n");
            state = co_await cache.next(state);
            CHECK_FALSE(state.exists);
            // Deleted and created again with the same version.
            hand.plant(path + "/n", "a");
            while (state.data != "a")
                state = co_await cache.next(state);
            hand.erase(path + "/n");
            hand.plant(path + "/n", "b");
            while (state.data != "b")
                state = co_await cache.next(state);
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
        for (const cache_options& form : both_forms) {
            hand.plant(path + "/c/a", "1");
            hand.plant(path + "/c/b", "2");
            children_cache cache(zk, path + "/c", form);
            tree_state state = co_await cache.next();
            CHECK(state.exists);
            CHECK(state.nodes->size() == 2);
            CHECK(state.nodes->at("a").data == "1");
            hand.set(path + "/c/a", "3");
            while (state.nodes->at("a").data != "3")
                state = co_await cache.next(state);
            hand.erase(path + "/c/b");
            hand.plant(path + "/c/d", "4");
            while (state.nodes->contains("b") || !state.nodes->contains("d"))
                state = co_await cache.next(state);
            CHECK(state.nodes->at("d").data == "4");
            // The second child of a child is not one of its own.
            hand.plant(path + "/c/d/deep", "5");
            hand.plant(path + "/c/e", "6");
            while (!state.nodes->contains("e"))
                state = co_await cache.next(state);
            CHECK(state.nodes->size() == 3);
            hand.erase_recursively(path + "/c");
            while (state.exists)
                state = co_await cache.next(state);
            CHECK(state.nodes->empty());
            hand.plant(path + "/c/f/g", "7");
            while (!state.exists || !state.nodes->contains("f"))
                state = co_await cache.next(state);
            CHECK(state.nodes->size() == 1);
            hand.erase_recursively(path + "/c");
        }
    });
}

TEST_CASE("tree cache: depth") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        admin hand(shared_server().port());
        hand.plant(path + "/a/b/c/d", "x");
        for (const cache_options& form : both_forms) {
            tree_cache whole(zk, path, tree_cache::unlimited, form);
            tree_state state = co_await whole.next();
            CHECK(state.nodes->size() == 5);
            CHECK(state.nodes->at(path + "/a/b/c/d").data == "x");
            tree_cache shallow(zk, path, 2, form);
            state = co_await shallow.next();
            CHECK(state.nodes->size() == 3);
        }
        client empty;
        tree_cache none(empty, path);
        auto [ec, nothing] = co_await none.next(as_tuple());
        CHECK(ec == errc::closed);
    });
}

TEST_CASE("cache: a filter leaves out branches, which cost no watches") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        for (const char* name : {"/a/b", "/a/x/y", "/x/b"})
            co_await zk.ensure_path(path + name);
        cache_options options = one_shot();
        options.filter = [](std::string_view node) { return !node.ends_with("/x"); };
        tree_cache tree(zk, path, tree_cache::unlimited, options);
        children_cache children(zk, path, options);
        tree_state state = co_await tree.next();
        auto paths = [&] {
            std::vector<std::string> found;
            for (const auto& [node, data] : *state.nodes)
                found.push_back(node.substr(path.size()));
            return found;
        };
        CHECK(paths() == std::vector<std::string>{"", "/a", "/a/b"});
        tree_state names = co_await children.next();
        CHECK(names.nodes->size() == 1);
        CHECK(names.nodes->contains("a"));
        // Data and children of three nodes; the caches share what both watch.
        CHECK(zk.counters().watches == 6);
        co_await zk.create(path + "/a/x/z");
        co_await zk.create(path + "/a/c");
        state = co_await tree.next(state);
        CHECK(paths() == std::vector<std::string>{"", "/a", "/a/b", "/a/c"});
        options.one_shot_watches = false;
        tree_cache one_watch(zk, path, tree_cache::unlimited, options);
        state = co_await one_watch.next();
        co_await zk.create(path + "/a/x/more");
        co_await zk.create(path + "/a/d");
        while (state.nodes->size() == 4)
            state = co_await one_watch.next(state);
        CHECK(paths() == std::vector<std::string>{"", "/a", "/a/b", "/a/c", "/a/d"});
    });
}

TEST_CASE("cache: names and metadata without data") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        admin hand(shared_server().port());
        for (cache_options form : both_forms) {
            form.data = false;
            hand.plant(path + "/c/a/b", "2");
            hand.set(path + "/c/a", "12");
            create_options hidden;
            const corozk::acl nobody{corozk::acl_entry(permission::write, "world", "anyone")};
            hidden.acl = &nobody;
            co_await zk.create(path + "/c/secret", "x", hidden);
            {
                tree_cache tree(zk, path + "/c", tree_cache::unlimited, form);
                children_cache children(zk, path + "/c", form);
                node_cache node(zk, path + "/c/a", form);
                tree_state all = co_await tree.next();
                tree_state names = co_await children.next();
                node_state one = co_await node.next();
                CHECK(all.nodes->size() == 4);
                CHECK(names.nodes->size() == 2);
                CHECK(all.nodes->at(path + "/c/a").data.empty());
                CHECK(names.nodes->at("a").data.empty());
                CHECK(one.data.empty());
                CHECK(all.nodes->at(path + "/c/a").stat.data_length == 2);
                CHECK(names.nodes->at("a").stat.data_length == 2);
                CHECK(one.stat.data_length == 2);
                hand.set(path + "/c/a", "123");
                hand.plant(path + "/c/d/e", "x");
                hand.erase(path + "/c/a/b");
                auto length = [&](const node_map& nodes, const std::string& key) {
                    return nodes.contains(key) ? nodes.at(key).stat.data_length : 0;
                };
                while (length(*all.nodes, path + "/c/a") != 3 || all.nodes->size() != 5 ||
                       !all.nodes->contains(path + "/c/d/e"))
                    all = co_await tree.next(all);
                while (length(*names.nodes, "a") != 3 || names.nodes->size() != 3)
                    names = co_await children.next(names);
                while (one.stat.data_length != 3)
                    one = co_await node.next(one);
                // A node that may not be read: its deletion is seen nevertheless.
                hand.erase(path + "/c/secret");
                while (names.nodes->contains("secret"))
                    names = co_await children.next(names);
            }
            co_await zk.erase_tree(path + "/c");
        }
    });
}

TEST_CASE("cache: a state that has not settled is current, but not told") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        using std::chrono::milliseconds;
        co_await zk.ensure_path(path);
        cache_options options;
        options.settle = std::chrono::hours(1);
        std::optional<children_cache> slow(std::in_place, zk, path, options);
        options.settle = milliseconds(1);
        children_cache quick(zk, path, options);
        pending_result<tree_state> never;
        slow->next(never.handler());
        tree_state state = co_await quick.next();
        co_await zk.create(path + "/a");
        // Its client's own change, as without `settle`.
        CHECK(slow->current().nodes->contains("a"));
        while (!state.nodes->contains("a"))
            state = co_await quick.next(state);
        CHECK_FALSE(never.done());
        slow.reset();
        error_code ec = co_await finished(never);
        CHECK(ec == boost::asio::error::operation_aborted);
    });
}

TEST_CASE("cache: the event loop ends with the client, whether or not the state has settled") {
    boost::asio::io_context context;
    std::optional<children_cache> cache;
    pending_result<tree_state> next;
    run(context, [&]() -> awaitable<void> {
        client zk = co_await one_more_client();
        cache_options options;
        options.settle = std::chrono::hours(1);
        cache.emplace(zk, "/", options);
        cache->next(next.handler());
        co_await eventually_async([&] { return cache->current().revision > 0; });
        co_await zk.close(as_tuple());
    });
    run_to_idle(context);
    CHECK(next.error() == errc::closed);
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
            state,
            boost::asio::bind_cancellation_slot(cancel.slot(), [&](error_code ec, node_state) {
                first = ec;
                ++completed;
            }));
        cancel.emit(boost::asio::cancellation_type::total);
        co_await eventually_async([&] { return completed == 1; });
        CHECK(first == boost::asio::error::operation_aborted);
        cache->next(state, [&](error_code ec, node_state) {
            second = ec;
            ++completed;
        });
        cache.reset();
        co_await eventually_async([&] { return completed == 2; });
        CHECK(second == boost::asio::error::operation_aborted);
        node_cache other(zk, path);
        state = co_await other.next();
        other.next(state, [&](error_code ec, node_state) {
            second = ec;
            ++completed;
        });
        co_await zk.close();
        co_await eventually_async([&] { return completed == 3; });
        CHECK(second == errc::closed);
    });
}

namespace {

/// What one change is made with, and what has to live until the copies were looked at.
struct own_change {
    own_change(client& zk_, std::string path_) : zk(zk_), path(std::move(path_)) {}

    template <class T, class... Arguments>
    T& make(Arguments&&... arguments) {
        auto made = std::make_shared<T>(std::forward<Arguments>(arguments)...);
        kept.push_back(made);
        return *made;
    }

    client& zk;
    const std::string path;
    std::vector<std::shared_ptr<void>> kept;
};

using change_function = awaitable<void> (*)(own_change& c);

struct named_change {
    const char* name;
    change_function make;
};

/// Everything of the client and of the recipes that changes nodes. `path` exists, with children `a`
/// (its data: old) and `b`.
const named_change all_changes[] = {
    {"set", [](own_change& c) -> awaitable<void> { co_await c.zk.set(c.path + "/a", "new"); }},
    {"set of the root", [](own_change& c) -> awaitable<void> { co_await c.zk.set(c.path, "new"); }},
    {"create",
     [](own_change& c) -> awaitable<void> { co_await c.zk.create(c.path + "/c", "new"); }},
    {"create with a sequence",
     [](own_change& c) -> awaitable<void> {
         create_options how;
         how.mode = create_mode::persistent_sequential;
         co_await c.zk.create(c.path + "/s-", "new", how);
     }},
    {"erase", [](own_change& c) -> awaitable<void> { co_await c.zk.erase(c.path + "/a"); }},
    {"erase of a whole tree",
     [](own_change& c) -> awaitable<void> {
         transaction steps;
         steps.erase(c.path + "/a").erase(c.path + "/b").erase(c.path);
         co_await c.zk.commit(steps);
     }},
    {"ensure_path",
     [](own_change& c) -> awaitable<void> { co_await c.zk.ensure_path(c.path + "/x/y/z"); }},
    {"commit",
     [](own_change& c) -> awaitable<void> {
         transaction steps;
         steps.set(c.path + "/a", "new").erase(c.path + "/b").create(c.path + "/c", "new");
         co_await c.zk.commit(steps);
     }},
    {"counter.add",
     [](own_change& c) -> awaitable<void> {
         co_await c.make<counter>(c.zk, c.path + "/n").add(5);
     }},
    {"configuration.publish",
     [](own_change& c) -> awaitable<void> {
         co_await c.make<configuration>(c.zk, c.path + "/a").publish("new");
     }},
    {"ready_configuration.publish",
     [](own_change& c) -> awaitable<void> {
         configuration_parts parts{{"one", "1"}, {"two", "2"}};
         co_await c.make<ready_configuration>(c.zk, c.path + "/c").publish(parts);
     }},
    {"versioned_configuration.publish",
     [](own_change& c) -> awaitable<void> {
         configuration_parts parts{{"one", "1"}, {"two", "2"}};
         co_await c.make<versioned_configuration>(c.zk, c.path + "/c").publish(parts);
     }},
    {"membership.join and set_data",
     [](own_change& c) -> awaitable<void> {
         auto& group = c.make<membership>(c.zk, c.path);
         co_await group.join("me", "here");
         co_await group.set_data("there");
     }},
    {"name_service.register_name",
     [](own_change& c) -> awaitable<void> {
         co_await c.make<name_service>(c.zk, c.path).register_name("name", "value");
     }},
    {"persistent_node.keep and set_data",
     [](own_change& c) -> awaitable<void> {
         auto& node = c.make<persistent_node>(c.zk, c.path + "/k");
         co_await node.keep("here");
         co_await node.set_data("there");
     }},
    {"election.proclaim",
     [](own_change& c) -> awaitable<void> {
         auto& e = c.make<election>(c.zk, c.path + "/e");
         ownership term = co_await e.campaign();
         co_await e.proclaim(term, "here");
         c.make<ownership>(std::move(term));
     }},
    {"rendezvous.publish",
     [](own_change& c) -> awaitable<void> {
         co_await c.make<rendezvous>(c.zk, c.path + "/r").publish("here");
     }},
    {"queue.put",
     [](own_change& c) -> awaitable<void> {
         std::vector<std::string> items{"one", "two"};
         co_await c.make<queue>(c.zk, c.path + "/q").put_many(items);
     }},
    {"queue.take",
     [](own_change& c) -> awaitable<void> {
         auto& q = c.make<queue>(c.zk, c.path + "/q");
         co_await q.put("one");
         co_await q.take();
     }},
    {"barrier.set",
     [](own_change& c) -> awaitable<void> {
         co_await c.make<barrier>(c.zk, c.path + "/b/b").set();
     }},
    {"lock.acquire",
     [](own_change& c) -> awaitable<void> {
         ownership held = co_await c.make<lock>(c.zk, c.path + "/l").acquire();
         c.make<ownership>(std::move(held));
     }},
    {"lock.release",
     [](own_change& c) -> awaitable<void> {
         ownership held = co_await c.make<lock>(c.zk, c.path + "/l").acquire();
         co_await held.release();
     }},
    {"ownership.commit",
     [](own_change& c) -> awaitable<void> {
         ownership held = co_await c.make<lock>(c.zk, c.path + "/l").acquire();
         ownership& kept = c.make<ownership>(std::move(held));
         transaction steps;
         steps.set(c.path + "/a", "new");
         co_await kept.commit(steps);
     }},
    {"semaphore.acquire and set_limit",
     [](own_change& c) -> awaitable<void> {
         auto& s = c.make<semaphore>(c.zk, c.path + "/s", 3);
         ownership held = co_await s.acquire(2);
         c.make<ownership>(std::move(held));
         co_await s.set_limit(4);
     }},
};

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
    if (!hand.exists(root))
        return result;
    result[root] = hand.data(root);
    for (const std::string& path : hand.tree(root))
        result[path] = hand.data(path);
    return result;
}

/// Each change with caches of all kinds beside it, which must show it when it completes.
awaitable<void> shows_own_change(client& zk, const named_change& change, bool known_before) {
    INFO(change.name);
    std::string path = fresh_path();
    admin hand(shared_server().port());
    hand.plant(path + "/a", "old");
    hand.plant(path + "/b", "old");
    tree_cache tree(zk, path);
    tree_cache tree_too(zk, path, tree_cache::unlimited, one_shot());
    children_cache children(zk, path);
    children_cache children_too(zk, path, one_shot());
    node_cache root(zk, path);
    node_cache node(zk, path + "/a");
    if (known_before) {
        co_await tree.next();
        co_await tree_too.next();
        co_await children.next();
        co_await children_too.next();
        co_await root.next();
        co_await node.next();
    }
    own_change own(zk, path);
    auto made = change.make(own);
    co_await std::move(made);
    auto shown = data_of(tree.current());
    auto shown_too = data_of(tree_too.current());
    auto shown_children = data_of(children.current());
    auto shown_children_too = data_of(children_too.current());
    std::string shown_root = root.current().data;
    std::string shown_node = node.current().data;
    auto real = tree_at_server(path);
    std::map<std::string, std::string> real_children;
    for (const auto& [name, data] : real) {
        std::string below = name.substr(std::min(name.size(), path.size() + 1));
        if (!below.empty() && below.find('/') == below.npos)
            real_children[below] = data;
    }
    CHECK(shown == real);
    CHECK(shown_too == real);
    CHECK(shown_children == real_children);
    CHECK(shown_children_too == real_children);
    CHECK(shown_root == real[path]);
    CHECK(shown_node == real[path + "/a"]);
}

awaitable<void> shows_own_publications(client& zk, std::string path) {
    configuration one(zk, path + "/one");
    configuration other(zk, path + "/one");
    ready_configuration ready(zk, path + "/ready");
    ready_configuration ready_too(zk, path + "/ready");
    versioned_configuration versions(zk, path + "/versions");
    versioned_configuration versions_too(zk, path + "/versions");
    for (int i = 0; i < 10; ++i) {
        std::string value = std::to_string(i);
        co_await one.publish(value);
        CHECK(one.current().data == value);
        CHECK(other.current().data == value);
        node_state next = co_await one.next();
        CHECK(next.data == value);

        configuration_parts parts{{"part", value}};
        co_await ready.publish(parts);
        REQUIRE(ready.current().parts);
        CHECK(*ready.current().parts == parts);
        co_await versions.publish(parts);
        REQUIRE(versions.current().parts);
        CHECK(*versions.current().parts == parts);
        if (i == 0) {
            co_await ready_too.next();
            co_await versions_too.next();
        }
        CHECK(*ready_too.current().parts == parts);
        CHECK(*versions_too.current().parts == parts);
        configuration_version now = co_await ready_too.next();
        CHECK(*now.parts == parts);
        now = co_await versions_too.next();
        CHECK(*now.parts == parts);
    }
}

/// What is asked of the server is asked behind the change.
awaitable<void> answers_with_own_changes(client& zk, std::string path) {
    membership group(zk, path + "/group");
    membership observer(zk, path + "/group");
    co_await observer.next();
    co_await group.join("me", "here");
    membership_change change = co_await observer.next();
    CHECK(change.joined.size() == 1);
    co_await group.set_data("there");
    auto members = co_await observer.list_members();
    REQUIRE(members.size() == 1);
    CHECK(members[0].data == "there");
    co_await group.leave();
    members = co_await observer.list_members();
    CHECK(members.empty());

    name_service names(zk, path + "/names");
    name_service names_too(zk, path + "/names");
    co_await names.register_name("a", "1");
    name_entry entry = co_await names_too.resolve("a");
    CHECK(entry.value == "1");
    auto list = co_await names_too.list();
    CHECK(list.size() == 1);

    semaphore permits(zk, path + "/permits", 3);
    semaphore permits_too(zk, path + "/permits", 3);
    ownership held = co_await permits.acquire(2);
    auto one_free = co_await permits_too.count_available();
    CHECK(one_free == 1);
    co_await held.release();
    auto all_free = co_await permits_too.count_available();
    CHECK(all_free == 3);
    co_await permits.set_limit(5);
    auto more_free = co_await permits_too.count_available();
    CHECK(more_free == 5);

    queue items(zk, path + "/queue");
    queue items_too(zk, path + "/queue");
    auto none = co_await items_too.count_items();
    CHECK(none == 0);
    for (std::size_t i = 1; i <= 5; ++i) {
        co_await items.put("item");
        auto own_size = co_await items.count_items();
        CHECK(own_size == i);
        auto other_size = co_await items_too.count_items();
        CHECK(other_size == i);
        queue_item first = co_await items_too.peek();
        CHECK(first.data == "item");
    }

    lock exclusive(zk, path + "/lock");
    held = co_await exclusive.acquire();
    lock exclusive_too(zk, path + "/lock");
    auto contenders = co_await exclusive_too.list_contenders();
    CHECK(contenders.size() == 1);
    co_await held.release();
    contenders = co_await exclusive_too.list_contenders();
    CHECK(contenders.empty());

    election campaign(zk, path + "/election", election_options("me"));
    election observed(zk, path + "/election");
    ownership term = co_await campaign.campaign();
    election_leader leader = co_await observed.get_leader();
    CHECK(leader.identity == "me");
    co_await term.release();
    leader = co_await observed.get_leader();
    CHECK(leader.identity.empty());

    counter number(zk, path + "/number");
    counter number_too(zk, path + "/number");
    co_await number.add(5);
    auto sum = co_await number_too.get();
    CHECK(sum == 5);

    rendezvous point(zk, path + "/point");
    rendezvous point_too(zk, path + "/point");
    co_await point.publish("here");
    rendezvous_point found = co_await point_too.await();
    CHECK(found.data == "here");
    co_await point.set_data("there");
    found = co_await point_too.next();
    CHECK(found.data == "there");
}

}  // namespace

TEST_CASE("cache: shows each change by its client when that completes") {
    with_client([](client& zk, std::string) -> awaitable<void> {
        for (const named_change& change : all_changes) {
            co_await shows_own_change(zk, change, true);
            co_await shows_own_change(zk, change, false);
        }
    });
}

TEST_CASE("cache: shows a node whose name the server has completed") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.create(path);
        create_options numbered;
        numbered.mode = create_mode::persistent_sequential;
        for (std::string stem : {"/a-", "/"}) {
            std::string number = stem == "/" ? "0000000002" : "0000000000";
            node_cache first(zk, path + stem + number);
            number.back() += 1;
            node_cache second(zk, path + stem + number);
            co_await first.next();
            co_await second.next();
            created_node made = co_await zk.create(path + stem, "created", numbered);
            REQUIRE(made.path == first.path());
            CHECK(first.current().data == "created");
            transaction steps;
            steps.create(path + stem, "committed", numbered);
            co_await zk.commit(steps);
            CHECK(second.current().data == "committed");
        }
    });
}

TEST_CASE("cache: shows its client's changes while others change it, too") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        admin hand(shared_server().port());
        hand.plant(path + "/a", "old");
        for (const cache_options& form : both_forms) {
            tree_cache cache(zk, path, tree_cache::unlimited, form);
            co_await cache.next();
            for (int i = 0; i < 50; ++i) {
                std::string value = std::to_string(i);
                hand.plant(path + (form.one_shot_watches ? "/one-" : "/other-") + value, "x");
                hand.set(path, value);
                co_await zk.set(path + "/a", value);
                CHECK(cache.current().nodes->at(path + "/a").data == value);
            }
        }
    });
}

TEST_CASE("configuration: shows what its client has published") {
    with_client(shows_own_publications);
}

TEST_CASE("recipes: an object answers with what another one of its client has done") {
    with_client(answers_with_own_changes);
}

TEST_CASE("cache: a change does not wait for a copy that cannot catch up") {
    using namespace std::chrono_literals;
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await zk.create(path, "old");
        std::optional<node_cache> cache(std::in_place, zk, path);
        co_await cache->next();
        // The response to the change arrives, and nothing after it: the cache cannot read.
        std::uint64_t responses = 0;
        auto lame = [&](auto change) {
            auto rule = proxy.arm(at_op(op_code::get_data).under(path), hold_request());
            responses = zk.counters().responses;
            zk.set(path, "new", any_version, change);
            return rule;
        };
        // The cache is notified, and reads, before the response has arrived.
        auto is_lame = [&](auto rule) {
            return
                [&, rule] { return proxy.fired(rule) == 1 && zk.counters().responses > responses; };
        };
        pending_result<corozk::stat> cancelled;
        auto rule = lame(cancelled.handler());
        co_await eventually_async(is_lame(rule));
        for (int i = 0; i < 10; ++i)
            co_await boost::asio::post(zk.get_executor(), boost::asio::use_awaitable);
        CHECK_FALSE(cancelled.done());
        cancelled.cancel();
        error_code ec = co_await finished(cancelled);
        CHECK_FALSE(ec);  // it has happened
        proxy.release(rule);
        co_await zk.sync(path);

        pending_result<corozk::stat> cut;
        rule = lame(cut.handler());
        co_await eventually_async(is_lame(rule));
        proxy.cut();
        ec = co_await finished(cut);
        CHECK_FALSE(ec);
        co_await zk.sync(path, as_tuple());
        co_await zk.set(path, "newer");
        CHECK(cache->current().data == "newer");

        pending_result<corozk::stat> destroyed;
        rule = lame(destroyed.handler());
        co_await eventually_async(is_lame(rule));
        cache.reset();
        ec = co_await finished(destroyed);
        CHECK_FALSE(ec);
        proxy.release(rule);
    });
}

TEST_CASE("cache: a call ends at its deadline where a copy cannot catch up") {
    using namespace std::chrono_literals;
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            co_await zk.create(path, "");
            children_cache cache(zk, path);
            co_await cache.next();
            lock exclusive(zk, path);
            // What the cache reads after the contender's node was made is held up.
            auto rule = proxy.arm(at_op(op_code::get_data), hold_request());
            auto [ec, held] = co_await exclusive.acquire_for(5s, as_tuple());
            CHECK_FALSE(ec);
            CHECK(held.valid());
            CHECK(proxy.fired(rule) == 1);
            proxy.release(rule);
            co_await held.release(as_tuple());
        },
        run_limit,
        steady_session);
}

}  // namespace corozk::testing::cache_test
