// SPDX-License-Identifier: Apache-2.0
// Clients that see a part of another one's tree, through the same session.
// ctest: CHROOT
#include "client_fixture.hpp"
#include "early_operations.hpp"
#include <corozk.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace corozk::testing::client_tests::client_below_test {

using namespace corozk;

TEST_CASE("client below: a watch of the ensemble's configuration is taken from the server") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client view = zk.below(path);
        {
            watched_data config = co_await view.watch_config();
            CHECK(zk.counters().watches == 1);
        }
        co_await zk.sync();
        CHECK(zk.counters().watches == 0);
        CHECK(watch_count(the_server().port()) == 0);
    });
}

TEST_CASE("client below: every operation has relative paths") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        admin seen = observer();
        const std::string root = at_server(path);
        client view = zk.below(path);
        created_node made = co_await view.create("/a", "1");
        CHECK(made.path == "/a");
        CHECK(seen.data(root + "/a") == "1");
        create_options sequential;
        sequential.mode = create_mode::ephemeral_sequential;
        made = co_await view.create("/a/s-", "", sequential);
        CHECK(made.path == "/a/s-0000000000");
        made = co_await view.create("/", "", sequential);
        CHECK(made.path == "/0000000001");
        CHECK(seen.exists(root + "/0000000001"));
        create_options ephemeral;
        ephemeral.mode = create_mode::ephemeral;
        created_node beside = co_await zk.create(path + "2", "", ephemeral);
        auto owned = co_await view.get_ephemerals("/");
        std::sort(owned.begin(), owned.end());
        CHECK(owned == std::vector<std::string>{"/0000000001", "/a/s-0000000000"});
        co_await view.erase("/0000000001");

        co_await view.set("/a", "2");
        node_data read = co_await view.get("/a");
        CHECK(read.data == "2");
        auto there = co_await view.exists("/a");
        CHECK(there);
        there = co_await view.exists("/b");
        CHECK_FALSE(there);
        node_children children = co_await view.get_children("/");
        CHECK(children.names == std::vector<std::string>{"a"});
        co_await view.ensure_path("/deep/er");
        CHECK(seen.exists(root + "/deep/er"));
        std::size_t count = co_await view.count_descendants("/");
        CHECK(count == 4);
        co_await view.erase_tree("/deep");
        CHECK_FALSE(seen.exists(root + "/deep"));
        co_await view.sync("/a");
        node_acl list = co_await view.get_acl("/a");
        co_await view.set_acl("/a", list.acl, list.stat.aversion);

        transaction steps;
        steps.check("/a").create("/a/t-", "", sequential).create("/c").set("/c", "x").erase("/c");
        auto results = co_await view.commit(steps);
        CHECK(results.at(1).path == "/a/t-0000000001");
        CHECK(results.at(2).path == "/c");
        transaction fails;
        fails.create("/d").check("/none");
        auto [ec, why] = co_await view.commit(fails, as_tuple());
        CHECK(ec == zk_errc::no_node);
        read_set reads;
        reads.get("/a").children("/a").get("/none");
        auto all = co_await view.read_all(reads);
        CHECK(all.at(0).data == "2");
        CHECK(all.at(1).names.size() == 2);
        CHECK(all.at(2).error == zk_errc::no_node);

        // What is not about paths.
        CHECK(view.session_id() == zk.session_id());
        CHECK(view.generation() == zk.generation());
        CHECK(view.counters().requests == zk.counters().requests);
        CHECK(view.hosts() == zk.hosts());
        node_data config = co_await view.get_config();
        CHECK(config.stat.czxid == 0);
        std::string text;
        try {
            co_await view.get("/none");
        } catch (const error& e) {
            text = e.what();
        }
        CHECK(text.starts_with("get /none: "));
    });
}

TEST_CASE("client below: views of views, of the root, and of nothing") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/a");
        client outer = zk.below(path);
        client inner = outer.below("/a");
        client same = inner.below("/");
        co_await same.create("/x", "1");
        CHECK(observer().data(at_server(path + "/a/x")) == "1");
        client all = zk.below("/");
        node_data read = co_await all.get(path + "/a/x");
        CHECK(read.data == "1");
        for (const char* bad : {"", "a", "/a/", "/.."}) {
            error_code ec;
            try {
                client none = zk.below(bad);
            } catch (const error& e) {
                ec = e.code();
            }
            CHECK(ec == errc::bad_path);
        }
        client empty;
        client of_empty = empty.below("/a");
        auto [closed, nothing] = co_await of_empty.get("/", as_tuple());
        CHECK(closed == errc::closed);
        client missing = zk.below(path + "/missing");
        auto [no_node, made] = co_await missing.create("/x", as_tuple());
        CHECK(no_node == zk_errc::no_node);
        auto [no_root] = co_await missing.ensure_path("/x/y", as_tuple());
        CHECK(no_root == errc::chroot_missing);
    });
}

TEST_CASE("client below: events have relative paths, and views share watches") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client view = zk.below(path);
        co_await view.create("/a", "1");
        watched_data data = co_await view.watch_data("/a");
        watched_data whole = co_await zk.watch_data(path + "/a");
        watched_stat created = co_await view.watch_exists("/new");
        watched_children children = co_await view.watch_children("/");
        CHECK(data.changed.path() == "/a");
        persistent_watch tree = co_await view.add_watch("/", watch_mode::persistent_recursive);
        persistent_watch node = co_await zk.add_watch(path + "/a", watch_mode::persistent);
        admin hand = observer();
        hand.set(at_server(path + "/a"), "2");
        hand.plant(at_server(path + "/new"));
        hand.plant(at_server(path + "/a/b"));
        watch_event event = co_await data.changed.next();
        CHECK(event.path == "/a");
        event = co_await whole.changed.next();
        CHECK(event.path == path + "/a");
        event = co_await created.changed.next();
        CHECK(event.path == "/new");
        CHECK(event.type == watch_event_type::created);
        event = co_await children.changed.next();
        CHECK(event.path == "/");
        std::vector<std::string> paths;
        for (int i = 0; i < 3; ++i) {
            event = co_await tree.next();
            paths.push_back(event.path);
        }
        CHECK(paths == std::vector<std::string>{"/a", "/new", "/a/b"});
        event = co_await node.next();
        CHECK(event.path == path + "/a");
        // The root's own events.
        {
            persistent_watch last = std::move(tree);
            hand.set(at_server(path), "root");
            event = co_await last.next();
            CHECK(event.path == "/");
        }
        // Dropped watches are removed from the server.
        { persistent_watch unused = std::move(node); }
        co_await eventually_async([&] { return zk.counters().watches == 0; });
        co_await eventually_async(
            [&] { return watches_below(the_server().port(), at_server(path)) == 0; });
    });
}

TEST_CASE("client below: a watch that is dropped is removed from the server") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client view = zk.below(path);
        co_await view.create("/a");
        std::optional<watched_data> data = co_await view.watch_data("/a");
        std::optional<watched_children> children = co_await view.watch_children("/a");
        CHECK(watches_below(the_server().port(), at_server(path)) == 1);
        CHECK(zk.counters().watches == 2);
        data.reset();
        children.reset();
        co_await eventually_async(
            [&] { return watches_below(the_server().port(), at_server(path)) == 0; });
        co_await eventually_async([&] { return zk.counters().watches == 0; });
    });
}

TEST_CASE("client below: recipes of a view and of the whole exclude each other") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client view = zk.below(path);
        lock inside(view, "/lock");
        lock outside(zk, path + "/lock");
        ownership held = co_await inside.acquire();
        CHECK(held.path().starts_with("/lock/"));
        CHECK(observer().exists(at_server(path + held.path())));
        outcome<ownership> waits;
        outside.acquire(waits.handler());
        auto [busy, nothing] = co_await outside.try_acquire(as_tuple());
        CHECK(busy == errc::would_block);
        auto contenders = co_await inside.list_contenders();
        REQUIRE(contenders.size() == 2);
        CHECK(contenders[0].path == held.path());
        transaction steps;
        steps.create("/written");
        co_await held.commit(steps);
        CHECK(observer().exists(at_server(path + "/written")));
        node_data read = co_await held.read("/written");
        CHECK(read.data.empty());
        CHECK_FALSE(waits.done());
        co_await held.release();
        error_code ec = co_await waits.wait();
        CHECK_FALSE(ec);
        CHECK(waits.value().path().starts_with(path + "/lock/"));
    });
}

TEST_CASE("client below: what is kept through a view is kept by one object of the session") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client view = zk.below(path);
        persistent_node_options at_once;
        at_once.wait_for_predecessor = false;
        persistent_node outside(zk, path + "/kept", at_once);
        persistent_node inside(view, "/kept", at_once);
        co_await outside.keep("outside");
        auto [ec] = co_await inside.keep("inside", as_tuple());
        CHECK(ec == errc::already_exists);
        CHECK(observer().data(at_server(path + "/kept")) == "outside");
        co_await outside.erase();
        co_await inside.keep("inside");
        CHECK(observer().data(at_server(path + "/kept")) == "inside");
        membership all(zk, path + "/group");
        membership part(view, "/group");
        co_await all.join("me");
        outcome<> waits;
        part.join("me", waits.handler());
        co_await zk.sync();
        CHECK_FALSE(waits.done());
        co_await all.leave();
        error_code joined = co_await waits.wait();
        CHECK_FALSE(joined);
    });
}

TEST_CASE("client below: a cache shows what any client of the session has written") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client view = zk.below(path);
        client other = zk.below(path);
        co_await view.create("/c");
        for (bool one_shot : {false, true}) {
            cache_options options;
            options.one_shot_watches = one_shot;
            tree_cache cache(view, "/c", tree_cache::unlimited, options);
            tree_state state = co_await cache.next();
            CHECK(state.nodes->contains("/c"));
            for (int i = 0; i < 20; ++i) {
                const std::string name = "/n" + std::to_string(i);
                co_await zk.create(path + "/c" + name);
                CHECK(cache.current().nodes->contains("/c" + name));
                co_await other.erase("/c" + name);
                CHECK_FALSE(cache.current().nodes->contains("/c" + name));
            }
            children_cache whole(zk, path + "/c", options);
            co_await whole.next();
            co_await view.create("/c/last");
            CHECK(whole.current().nodes->contains("last"));
            co_await view.erase("/c/last");
        }
    });
}

TEST_CASE("client below: recipes work in a view") {
    with_client(
        [](client& zk, std::string path) -> awaitable<void> {
            client view = zk.below(path);
            early_operations all(view, "/early");
            all.ask_all();
            co_await eventually_async([&] { return all.waiting().empty(); },
                                      std::chrono::seconds(60));
            CHECK(all.ended() > 50);
            for (const auto& [operation, ec] : all.answers()) {
                INFO(operation << ": " << ec.message());
                CHECK_FALSE(ec);
            }
            CHECK(observer().exists(at_server(path + "/early")));
            CHECK_FALSE(observer().exists(at_server("/early")));
        },
        std::chrono::seconds(90));
}

TEST_CASE("client below: its end does not end the session, that of the whole does") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        {
            client view = zk.below(path);
            create_options ephemeral;
            ephemeral.mode = create_mode::ephemeral;
            co_await view.create("/e", "", ephemeral);
        }
        CHECK(zk.state() == session_state::connected);
        CHECK(observer().exists(at_server(path + "/e")));
        client view = zk.below(path);
        persistent_watch watch = co_await view.add_watch("/", watch_mode::persistent);
        {
            client whole = std::move(zk);
            outcome<node_data> last;
            view.get("/e", last.handler());
            co_await whole.close();
            CHECK(last.done());
        }
        CHECK(view.state() == session_state::closed);
        auto [ec, nothing] = co_await view.get("/e", as_tuple());
        CHECK(ec == errc::closed);
        auto [ended, event] = co_await watch.next(as_tuple());
        CHECK(ended == errc::closed);
        CHECK_FALSE(observer().exists(at_server(path + "/e")));
    });
}

TEST_CASE("client below: without the client that it is a view of it does not connect") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client view = zk.below(path);
        co_await zk.close();
        co_await view.connect();
        CHECK(zk.state() == session_state::connected);
        { client whole = std::move(zk); }
        // Which destroying has begun.
        co_await view.close(as_tuple());
        REQUIRE(view.state() == session_state::closed);
        auto [ec] = co_await view.connect(as_tuple());
        CHECK(ec == errc::closed);
        CHECK(view.state() == session_state::closed);
    });
}

TEST_CASE("client below: survives the loss of connections and of the session") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        client view = zk.below(path);
        co_await view.create("/c");
        persistent_watch watch = co_await view.add_watch("/c", watch_mode::persistent_recursive);
        tree_cache cache(view, "/c");
        tree_state state = co_await cache.next();
        proxy.cut();
        co_await reach(view, session_state::suspended);
        observer().plant(at_server(path + "/c/new"));
        while (!state.nodes->contains("/c/new"))
            state = co_await cache.next(state);
        watch_event event = co_await watch.next();
        CHECK(event.path == "/c");
        co_await view.create("/c/later");
        do
            event = co_await watch.next();
        while (event.type == watch_event_type::unknown);
        CHECK(event.path == "/c/later");

        lock l(view, "/lock");
        ownership held = co_await l.acquire();
        expire_through(proxy);
        auto [lost_ec, reason] = co_await held.wait_lost(as_tuple());
        CHECK_FALSE(lost_ec);
        CHECK(reason == zk_errc::session_expired);
        co_await reach(view, session_state::connected);
        CHECK(view.generation() == 2);
        held = co_await l.acquire();
        CHECK(held.valid());
    });
}

TEST_CASE("client below: requests are as large as the server gets them") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client view = zk.below(path);
        // With the root's path it is too large, without it is not.
        std::string data(1'048'575 - 128 - 2 - 25, 'x');
        auto [ec, stat] = co_await view.create("/a", data.substr(0, data.size() - 200), as_tuple());
        CHECK_FALSE(ec);
        auto [too_large, nothing] =
            co_await view.set("/a", std::string(1'048'575 - 128 - 2, 'x'), as_tuple());
        CHECK(too_large == errc::too_large);
    });
}

}  // namespace corozk::testing::client_tests::client_below_test
