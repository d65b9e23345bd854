// SPDX-License-Identifier: Apache-2.0
// Every operation of the client with every option; runs a second time under a chroot.
// ctest: CHROOT
#include "client_fixture.hpp"
#include "pending_result.hpp"
#include <corozk/client.hpp>
#include <corozk/persistent_watch.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace corozk::testing::client_tests::client_operations_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

bool ends_with_sequence(const std::string& path, const std::string& prefix) {
    return path.size() == prefix.size() + 10 && path.starts_with(prefix) &&
           path.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
}

}  // namespace

TEST_CASE("create: persistent, with data") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        created_node made = co_await zk.create(path + "/a", "data");
        CHECK(made.path == path + "/a");
        CHECK(made.stat.ephemeral_owner == 0);
        CHECK(made.stat.version == 0);
        CHECK(made.stat.data_length == 4);
        CHECK(made.stat.czxid > 0);
        CHECK(observer().data(at_server(path + "/a")) == "data");
        created_node empty = co_await zk.create(path + "/b");
        CHECK(empty.stat.data_length == 0);
        CHECK(empty.stat.czxid > made.stat.czxid);
        std::string binary("\0\xff\n\0", 4);
        co_await zk.create(path + "/c", binary);
        node_data read = co_await zk.get(path + "/c");
        CHECK(read.data == binary);
    });
}

TEST_CASE("create: ephemeral nodes belong to the session and go with it") {
    std::string path;
    with_client([&path](client& zk, std::string own) -> awaitable<void> {
        path = own;
        create_options options;
        options.mode = create_mode::ephemeral;
        created_node made = co_await zk.create(path + "/e", "x", options);
        CHECK(made.stat.ephemeral_owner == zk.session_id());
        auto below = co_await zk.create(path + "/e/child", "", create_options(), as_tuple());
        CHECK(std::get<0>(below) == zk_errc::no_children_for_ephemerals);
        CHECK(observer().exists(at_server(path + "/e")));
    });
    CHECK_FALSE(observer().exists(at_server(path + "/e")));
}

TEST_CASE("create: sequential modes") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        create_options options;
        options.mode = create_mode::persistent_sequential;
        created_node first = co_await zk.create(path + "/s-", "1", options);
        CHECK(ends_with_sequence(first.path, path + "/s-"));
        CHECK(first.stat.ephemeral_owner == 0);
        options.mode = create_mode::ephemeral_sequential;
        created_node second = co_await zk.create(path + "/s-", "2", options);
        CHECK(ends_with_sequence(second.path, path + "/s-"));
        CHECK(second.path > first.path);
        CHECK(second.stat.ephemeral_owner == zk.session_id());
        // Only digits: the server appends them to the empty name.
        options.mode = create_mode::persistent_sequential;
        created_node nameless = co_await zk.create(path + "/", "3", options);
        CHECK(ends_with_sequence(nameless.path, path + "/"));
        node_data read = co_await zk.get(nameless.path);
        CHECK(read.data == "3");
    });
}

TEST_CASE("create: container") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        create_options options;
        options.mode = create_mode::container;
        created_node made = co_await zk.create(path + "/c", "x", options);
        CHECK(made.path == path + "/c");
        co_await zk.create(made.path + "/child");
        co_await zk.erase(made.path + "/child");
    });
}

TEST_CASE("create: with a time to live") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        create_options options;
        options.mode = create_mode::persistent_with_ttl;
        options.ttl = 60s;
        created_node made = co_await zk.create(path + "/t", "x", options);
        CHECK(made.path == path + "/t");
        options.mode = create_mode::persistent_sequential_with_ttl;
        created_node numbered = co_await zk.create(path + "/t-", "x", options);
        CHECK(ends_with_sequence(numbered.path, path + "/t-"));

        // A mode with a TTL needs one, and the others must have none.
        create_options without;
        without.mode = create_mode::persistent_with_ttl;
        auto missing = co_await zk.create(path + "/u", "", without, as_tuple());
        CHECK(std::get<0>(missing) == errc::bad_option);
        create_options surplus;
        surplus.ttl = 1s;
        auto senseless = co_await zk.create(path + "/u", "", surplus, as_tuple());
        CHECK(std::get<0>(senseless) == errc::bad_option);
        create_options negative;
        negative.mode = create_mode::persistent_with_ttl;
        negative.ttl = -1s;
        auto backwards = co_await zk.create(path + "/u", "", negative, as_tuple());
        CHECK(std::get<0>(backwards) == errc::bad_option);
        // The longest that a server can store, and one more.
        create_options longest;
        longest.mode = create_mode::persistent_with_ttl;
        longest.ttl = std::chrono::milliseconds((std::int64_t{1} << 40) - 1);
        co_await zk.create(path + "/longest", "", longest);
        create_options too_long = longest;
        too_long.ttl += 1ms;
        auto created = co_await zk.create(path + "/u", "", too_long, as_tuple());
        CHECK(std::get<0>(created) == errc::bad_option);
        auto committed =
            co_await zk.commit(transaction().create(path + "/u", "", too_long), as_tuple());
        CHECK(std::get<0>(committed) == errc::bad_option);
        auto read = co_await zk.exists(path + "/u");
        CHECK_FALSE(read);
    });
}

TEST_CASE("create: a server that does not allow TTLs says so") {
    server_options plain;
    plain.tick_time = 200ms;
    server without(plain);
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(without.hosts()));
        create_options options;
        options.mode = create_mode::persistent_with_ttl;
        options.ttl = 60s;
        auto [ec, made] = co_await zk.create("/t", "x", options, as_tuple());
        CHECK(ec == zk_errc::unimplemented);
        CHECK_THAT(ec.message(), Contains("does not support this operation"));
        // The session has not suffered.
        created_node fine = co_await zk.create("/t", "x");
        CHECK(fine.path == "/t");
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("create: what the server refuses") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/a");
        auto again = co_await zk.create(path + "/a", "", create_options(), as_tuple());
        CHECK(std::get<0>(again) == zk_errc::node_exists);
        auto orphan = co_await zk.create(path + "/no/child", "", create_options(), as_tuple());
        CHECK(std::get<0>(orphan) == zk_errc::no_node);
        acl senseless{corozk::acl_entry(permission::all, "no-such-scheme", "x")};
        create_options options;
        options.acl = &senseless;
        auto refused = co_await zk.create(path + "/b", "", options, as_tuple());
        CHECK(std::get<0>(refused) == zk_errc::invalid_acl);
        const acl nobody;
        options.acl = &nobody;
        auto closed = co_await zk.create(path + "/b", "", options, as_tuple());
        CHECK(std::get<0>(closed) == zk_errc::invalid_acl);
        auto ensured = co_await zk.ensure_path(path + "/b", options, as_tuple());
        CHECK(std::get<0>(ensured) == zk_errc::invalid_acl);
        CHECK_FALSE(co_await zk.exists(path + "/b"));
    });
}

TEST_CASE("ensure_path: creates what is missing, leaves what is there") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/a", "kept");
        co_await zk.ensure_path(path + "/a/b/c");
        co_await zk.ensure_path(path + "/a/b/c");
        co_await zk.ensure_path("/");
        node_data a = co_await zk.get(path + "/a");
        CHECK(a.data == "kept");
        CHECK(observer().exists(at_server(path + "/a/b/c")));
        auto [ec] = co_await zk.ensure_path("no/slash", create_options(), as_tuple());
        CHECK(ec == errc::bad_path);
    });
}

TEST_CASE("ensure_path: only nodes that can have children, and stay, are ancestors") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        create_options container{.mode = create_mode::container};
        co_await zk.ensure_path(path + "/container/a", container);
        CHECK(observer().exists(at_server(path + "/container/a")));
        for (create_mode mode : {create_mode::ephemeral,
                                 create_mode::ephemeral_sequential,
                                 create_mode::persistent_sequential,
                                 create_mode::persistent_with_ttl,
                                 create_mode::persistent_sequential_with_ttl}) {
            create_options options{.mode = mode, .ttl = std::chrono::minutes(1)};
            auto [ec] = co_await zk.ensure_path(path + "/x/a", options, as_tuple());
            CHECK(ec == errc::bad_option);
        }
        create_options with_ttl{.ttl = std::chrono::minutes(1)};
        auto [ec] = co_await zk.ensure_path(path + "/x/a", with_ttl, as_tuple());
        CHECK(ec == errc::bad_option);
        node_children there = co_await zk.get_children(path);
        CHECK(there.names == std::vector<std::string>{"container"});
    });
}

TEST_CASE("get, set: data and versions") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/a", "1");
        node_data before = co_await zk.get(path + "/a");
        CHECK(before.data == "1");
        CHECK(before.stat.version == 0);
        corozk::stat after = co_await zk.set(path + "/a", "22", 0);
        CHECK(after.version == 1);
        CHECK(after.data_length == 2);
        CHECK(after.mzxid > before.stat.mzxid);
        auto late = co_await zk.set(path + "/a", "3", 0, as_tuple());
        CHECK(std::get<0>(late) == zk_errc::bad_version);
        co_await zk.set(path + "/a", "");
        node_data empty = co_await zk.get(path + "/a");
        CHECK(empty.data.empty());
        CHECK(empty.stat.version == 2);
        auto missing = co_await zk.get(path + "/no", as_tuple());
        CHECK(std::get<0>(missing) == zk_errc::no_node);
        auto nowhere = co_await zk.set(path + "/no", "", any_version, as_tuple());
        CHECK(std::get<0>(nowhere) == zk_errc::no_node);
    });
}

TEST_CASE("exists: a missing node is no error") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::optional<corozk::stat> none = co_await zk.exists(path + "/a");
        CHECK_FALSE(none);
        created_node made = co_await zk.create(path + "/a", "xyz");
        std::optional<corozk::stat> there = co_await zk.exists(path + "/a");
        REQUIRE(there);
        CHECK(*there == made.stat);
        std::optional<corozk::stat> root = co_await zk.exists("/");
        CHECK(root);
    });
}

TEST_CASE("children: names without the parent's path") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        node_children none = co_await zk.get_children(path);
        CHECK(none.names.empty());
        for (const char* name : {"c", "a", "b"})
            co_await zk.create(path + "/" + name);
        node_children some = co_await zk.get_children(path);
        CHECK(std::set<std::string>(some.names.begin(), some.names.end()) ==
              std::set<std::string>{"a", "b", "c"});
        CHECK(some.stat.num_children == 3);
        auto missing = co_await zk.get_children(path + "/no", as_tuple());
        CHECK(std::get<0>(missing) == zk_errc::no_node);
        node_children root = co_await zk.get_children("/");
        CHECK(std::count(root.names.begin(), root.names.end(), path.substr(1)) == 1);
    });
}

TEST_CASE("erase: versions, children, and what is not there") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/a");
        co_await zk.create(path + "/a/b");
        auto full = co_await zk.erase(path + "/a", any_version, as_tuple());
        CHECK(std::get<0>(full) == zk_errc::not_empty);
        auto other = co_await zk.erase(path + "/a/b", 7, as_tuple());
        CHECK(std::get<0>(other) == zk_errc::bad_version);
        co_await zk.erase(path + "/a/b", 0);
        co_await zk.erase(path + "/a");
        auto again = co_await zk.erase(path + "/a", any_version, as_tuple());
        CHECK(std::get<0>(again) == zk_errc::no_node);
    });
}

TEST_CASE("erase_tree: deletes a branch, and says what it could not delete") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        for (std::string branch : {path + "/a/b/c", path + "/a/d"}) {
            co_await zk.ensure_path(branch);
            transaction leaves;
            for (int i = 0; i < 150; ++i)
                leaves.create(branch + "/" + std::to_string(i));
            co_await zk.commit(leaves);
        }
        co_await zk.ensure_path(path + "/ab/closed/child");
        co_await zk.erase_tree(path + "/a");
        CHECK(observer().children(at_server(path)) == std::vector<std::string>{"ab"});
        auto [missing] = co_await zk.erase_tree(path + "/a", as_tuple());
        CHECK(missing == zk_errc::no_node);
        auto [bad] = co_await zk.erase_tree("a", as_tuple());
        CHECK(bad == errc::bad_path);
        co_await zk.set_acl(path + "/ab/closed", corozk::read_only_acl());
        auto [forbidden] = co_await zk.erase_tree(path + "/ab", as_tuple());
        CHECK(forbidden == zk_errc::no_auth);
        CHECK(observer().exists(at_server(path + "/ab/closed/child")));
    });
}

TEST_CASE("erase_tree: the children of one node are deleted in pieces") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        constexpr int children = 250;
        constexpr std::uint64_t piece = 100;
        transaction branch;
        branch.create(path + "/a");
        for (int i = 0; i < children; ++i)
            branch.create(path + "/a/" + std::to_string(i));
        co_await zk.commit(branch);
        // The first request is for the node itself, which has children: the next is the first piece's.
        rule_id first = proxy.arm(at_op(testing::op_code::erase, 2), hold_reply());
        rule_id second = proxy.arm(at_op(testing::op_code::erase, 2 + piece), hold_reply());
        auto deletes = [&proxy] { return proxy.statistics().requests_of(testing::op_code::erase); };
        outcome<> erased;
        zk.erase_tree(path + "/a", erased.handler());
        std::uint64_t expected = 1;
        outcome<node_data> reads[2];
        for (int i = 0; i < 2; ++i) {
            expected += piece;
            co_await eventually_async([&] { return deletes() >= expected; });
            // What was to be sent with them is ahead of this.
            zk.get(path, reads[i].handler());
            const auto asked = static_cast<std::uint64_t>(i + 1);
            co_await eventually_async([&] {
                return proxy.statistics().requests_of(testing::op_code::get_data) == asked;
            });
            CHECK(deletes() == expected);
            CHECK_FALSE(erased.done());
            proxy.release(i == 0 ? first : second);
        }
        error_code ec = co_await erased.wait();
        CHECK_FALSE(ec);
        CHECK(deletes() == 1 + children + 1);
        CHECK_FALSE(observer().exists(at_server(path + "/a")));
    };
    // None of the held responses may be taken for those of a slow connection.
    with_proxy(body, quiet_options("", steady_session_timeout));
}

TEST_CASE("sync: what others wrote before is seen") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        observer().set(at_server(path), "by somebody else");
        co_await zk.sync(path);
        co_await zk.sync();
        node_data read = co_await zk.get(path);
        CHECK(read.data == "by somebody else");
    });
}

TEST_CASE("get_acl, set_acl: lists and their versions") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/a");
        node_acl open = co_await zk.get_acl(path + "/a");
        CHECK(open.acl == corozk::open_acl());
        CHECK(open.stat.aversion == 0);
        acl entries{corozk::acl_entry(permission::read | permission::admin, "world", "anyone"),
                    corozk::acl_entry(permission::all, "ip", "127.0.0.1")};
        co_await zk.set_acl(path + "/a", entries, 0);
        node_acl read = co_await zk.get_acl(path + "/a");
        CHECK(read.acl == entries);
        CHECK(read.stat.aversion == 1);
        auto late = co_await zk.set_acl(path + "/a", corozk::open_acl(), 0, as_tuple());
        CHECK(std::get<0>(late) == zk_errc::bad_version);
        auto empty = co_await zk.set_acl(path + "/a", acl(), any_version, as_tuple());
        CHECK(std::get<0>(empty) == zk_errc::invalid_acl);
        auto missing = co_await zk.get_acl(path + "/no", as_tuple());
        CHECK(std::get<0>(missing) == zk_errc::no_node);

        create_options options;
        acl only_read = read_only_acl();
        options.acl = &only_read;
        co_await zk.create(path + "/r", "x", options);
        auto refused = co_await zk.set(path + "/r", "y", any_version, as_tuple());
        CHECK(std::get<0>(refused) == zk_errc::no_auth);
        CHECK_THAT(std::get<0>(refused).message(), Contains("add_auth"));
    });
}

TEST_CASE("add_auth: the server enforces what a digest allows, in later sessions too") {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    run(context, [&]() -> awaitable<void> {
        client owner = co_await connected_client(quiet_options(rooted(proxy.hosts())));
        client stranger = co_await connected_client(quiet_options(the_hosts()));
        std::string path = fresh_path();
        co_await owner.add_auth("digest", "alice:secret");
        acl mine = creator_acl();
        create_options options;
        options.acl = &mine;
        co_await owner.create(path, "private", options);
        node_acl list = co_await owner.get_acl(path);
        REQUIRE(list.acl.size() == 1);
        CHECK(list.acl[0].scheme == "digest");
        CHECK_THAT(list.acl[0].id, Catch::StartsWith("alice:"));

        auto refused = co_await stranger.get(path, as_tuple());
        CHECK(std::get<0>(refused) == zk_errc::no_auth);
        auto untouched = co_await stranger.set(path, "x", any_version, as_tuple());
        CHECK(std::get<0>(untouched) == zk_errc::no_auth);
        // A wrong password is no error; it just opens nothing.
        co_await stranger.add_auth("digest", "alice:guess");
        auto still = co_await stranger.get(path, as_tuple());
        CHECK(std::get<0>(still) == zk_errc::no_auth);
        co_await stranger.add_auth("digest", "alice:secret");
        node_data read = co_await stranger.get(path);
        CHECK(read.data == "private");

        // A new connection of the same session, and a new session.
        session_status connected = owner.status();
        proxy.cut();
        co_await owner.next_status(connected);
        node_data same_session = co_await owner.get(path);
        CHECK(same_session.data == "private");
        CHECK(owner.generation() == 1);
        expire_through(proxy);
        session_status status = owner.status();
        while (status.generation != 2)
            status = co_await owner.next_status(status);
        node_data next_session = co_await owner.get(path);
        CHECK(next_session.data == "private");
        co_await owner.erase(path);
        co_await owner.close();
        co_await stranger.close();
    });
    run_to_idle(context);
}

TEST_CASE("add_auth: credentials from the options are used before anything else") {
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        client_options options = quiet_options(the_hosts());
        options.auth.emplace_back("digest", "bob:secret");
        client zk = co_await connected_client(options);
        std::string path = fresh_path();
        acl mine = creator_acl();
        create_options create;
        create.acl = &mine;
        co_await zk.create(path, "x", create);
        node_acl list = co_await zk.get_acl(path);
        REQUIRE(list.acl.size() == 1);
        CHECK_THAT(list.acl[0].id, Catch::StartsWith("bob:"));
        co_await zk.erase(path);
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("add_auth: equal credentials are sent once on each connection") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string) -> awaitable<void> {
        for (const char* who : {"ann:secret", "bob:secret", "ann:secret"})
            co_await zk.add_auth("digest", who);
        CHECK(sent(proxy, {testing::op_code::auth}).size() == 3);
        proxy.cut();
        co_await reach(zk, session_state::suspended);
        co_await reach(zk, session_state::connected);
        co_await zk.sync();
        CHECK(sent(proxy, {testing::op_code::auth}).size() == 3 + 2);
    });
}

TEST_CASE("add_auth: beside requests that are half sent") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        const std::string data(900'000, 'x');
        co_await zk.create(path + "/large");
        int done = 0;
        error_code of_set;
        error_code of_auth;
        zk.set(path + "/large", data, [&](error_code ec, stat) {
            of_set = ec;
            ++done;
        });
        zk.add_auth("digest", "ann:secret", [&](error_code ec) {
            of_auth = ec;
            ++done;
        });
        co_await eventually_async([&] { return done == 2; });
        CHECK_FALSE(of_set);
        CHECK_FALSE(of_auth);
        node_data read = co_await zk.get(path + "/large");
        CHECK(read.data == data);
        CHECK(zk.counters().connects == 1);
    });
}

TEST_CASE("add_auth: an unknown scheme ends the client, with the reason") {
    boost::asio::io_context context;
    run(context, [&]() -> awaitable<void> {
        // The session has to outlive the test of its znode.
        client zk = co_await connected_client(quiet_options(the_hosts(), 40s));
        const std::string own = fresh_path();
        create_options how;
        how.mode = create_mode::ephemeral;
        co_await zk.create(own, "", how);
        auto [ec] = co_await zk.add_auth("no-such-scheme", "x", as_tuple());
        CHECK(ec == zk_errc::auth_failed);
        co_await reach(zk, session_state::closed);
        CHECK(zk.status().reason == zk_errc::auth_failed);
        auto later = co_await zk.get("/", as_tuple());
        CHECK(std::get<0>(later) == errc::closed);
        auto [closed] = co_await zk.close(as_tuple());
        CHECK_FALSE(closed);
        auto [empty] = co_await zk.add_auth("", "x", as_tuple());
        CHECK(empty);

        // The session is left to expire. The next one does not offer the credential again.
        CHECK(observer().exists(at_server(own)));
        co_await zk.connect();
        co_await zk.erase(own);
        co_await zk.close();

        // In the options, it is `connect` that fails.
        client_options options = quiet_options(the_hosts());
        options.auth.emplace_back("no-such-scheme", "x");
        auto executor = co_await boost::asio::this_coro::executor;
        client second(executor, options);
        auto [refused] = co_await second.connect(as_tuple());
        // The session exists before its credentials are refused: either is the first to be known.
        if (refused) {
            CHECK(refused == zk_errc::auth_failed);
        } else {
            co_await reach(second, session_state::closed);
        }
        CHECK(second.status().reason == zk_errc::auth_failed);
    });
    run_to_idle(context);
}

TEST_CASE("commit: all of it, with a result for each step") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/old");
        co_await zk.create(path + "/kept", "1");
        create_options numbered;
        numbered.mode = create_mode::persistent_sequential;
        create_options fleeting;
        fleeting.mode = create_mode::ephemeral;
        transaction t;
        t.check(path + "/kept", 0)
            .create(path + "/new", "x")
            .create(path + "/n-", "", numbered)
            .set(path + "/kept", "22", 0)
            .create(path + "/e", "", fleeting)
            .erase(path + "/old", 0);
        auto results = co_await zk.commit(t);
        REQUIRE(results.size() == 6);
        for (const auto& r : results)
            CHECK_FALSE(r.error);
        CHECK(results[1].path == path + "/new");
        CHECK(ends_with_sequence(results[2].path, path + "/n-"));
        CHECK(results[3].stat.version == 1);
        CHECK(results[3].stat.data_length == 2);
        CHECK(results[4].path == path + "/e");
        admin hand = observer();
        CHECK(hand.exists(at_server(results[2].path)));
        CHECK_FALSE(hand.exists(at_server(path + "/old")));
        CHECK(hand.stat(at_server(path + "/e"))->ephemeral_owner == zk.session_id());
        auto none = co_await zk.commit(transaction());
        CHECK(none.empty());
    });
}

TEST_CASE("commit: nothing of it, and which step was the reason") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/a");
        auto failing = [&](transaction t, std::size_t guilty, zk_errc reason) -> awaitable<void> {
            std::size_t count = t.size();
            auto [ec, results] = co_await zk.commit(t, as_tuple());
            CHECK(ec == reason);
            CHECK(results.size() == count);
            for (std::size_t i = 0; i < results.size(); ++i) {
                INFO("step " << i);
                if (i == guilty) {
                    CHECK(results[i].error == reason);
                } else {
                    CHECK(results[i].error != reason);
                }
                CHECK(results[i].path.empty());
            }
            auto made = co_await zk.exists(path + "/new");
            CHECK_FALSE(made);
        };
        transaction exists, version, check, missing, full;
        exists.create(path + "/new").create(path + "/a").set(path + "/a", "x");
        co_await failing(exists, 1, zk_errc::node_exists);
        version.create(path + "/new").set(path + "/a", "x", 5);
        co_await failing(version, 1, zk_errc::bad_version);
        check.check(path + "/a", 9).create(path + "/new");
        co_await failing(check, 0, zk_errc::bad_version);
        missing.create(path + "/new").create(path + "/new/b").erase(path + "/none");
        co_await failing(missing, 2, zk_errc::no_node);
        full.create(path + "/new").erase(path, any_version);
        co_await failing(full, 1, zk_errc::not_empty);
    });
}

TEST_CASE("commit: rights apply to each step") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        acl only_read = read_only_acl();
        create_options options;
        options.acl = &only_read;
        transaction make;
        make.create(path + "/r", "x", options);
        co_await zk.commit(make);
        node_acl list = co_await zk.get_acl(path + "/r");
        CHECK(list.acl == only_read);
        transaction t;
        t.create(path + "/new").set(path + "/r", "y");
        auto [ec, results] = co_await zk.commit(t, as_tuple());
        CHECK(ec == zk_errc::no_auth);
        REQUIRE(results.size() == 2);
        CHECK(results[1].error == zk_errc::no_auth);
    });
}

TEST_CASE("commit: what cannot be sent") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        transaction bad;
        bad.create(path + "/ok").set("relative", "x");
        auto [ec, results] = co_await zk.commit(bad, as_tuple());
        CHECK(ec == errc::bad_path);
        create_options ttl;
        ttl.mode = create_mode::persistent_with_ttl;  // without one
        transaction fleeting;
        fleeting.create(path + "/t", "", ttl);
        auto second = co_await zk.commit(fleeting, as_tuple());
        CHECK(std::get<0>(second) == errc::bad_option);
        transaction huge;
        for (int i = 0; i < 4; ++i)
            huge.set(path, std::string(300'000, 'x'));
        auto third = co_await zk.commit(huge, as_tuple());
        CHECK(std::get<0>(third) == errc::too_large);
        auto made = co_await zk.exists(path + "/ok");
        CHECK_FALSE(made);
    });
}

TEST_CASE("commit: containers and nodes with a time to live, beside all other steps") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/old");
        acl mine = read_only_acl();
        create_options container{.mode = create_mode::container};
        create_options ttl{.mode = create_mode::persistent_with_ttl, .ttl = 60s, .acl = &mine};
        create_options numbered{.mode = create_mode::persistent_sequential_with_ttl, .ttl = 60s};
        transaction steps;
        steps.create(path + "/c", "container", container);
        steps.create(path + "/t", "ttl", ttl);
        steps.create(path + "/c/n-", "", numbered);
        steps.create(path + "/plain", "data");
        steps.set(path, "changed").check(path + "/old", 0).erase(path + "/old");
        create_options ephemeral{.mode = create_mode::ephemeral};
        create_options sequential{.mode = create_mode::persistent_sequential};
        steps.create(path + "/e", "", ephemeral).create(path + "/s-", "", sequential);
        auto results = co_await zk.commit(steps);
        CHECK(results.size() == 9);
        auto mine_for_now = co_await zk.exists(path + "/e");
        REQUIRE(mine_for_now);
        CHECK(mine_for_now->ephemeral_owner == zk.session_id());
        CHECK(ends_with_sequence(results[8].path, path + "/s-"));
        CHECK(results[0].path == path + "/c");
        CHECK(results[1].path == path + "/t");
        CHECK(ends_with_sequence(results[2].path, path + "/c/n-"));
        CHECK(results[3].path == path + "/plain");
        CHECK(results[4].stat.version == 1);
        CHECK(observer().data(at_server(path + "/t")) == "ttl");
        node_acl allowed = co_await zk.get_acl(path + "/t");
        CHECK(allowed.acl == mine);
        CHECK_FALSE(observer().exists(at_server(path + "/old")));

        // All or nothing, and which step was the reason.
        transaction vain;
        vain.create(path + "/d", "", container).check(path + "/plain", 7).set(path, "x");
        auto [ec, why] = co_await zk.commit(vain, as_tuple());
        CHECK(ec == zk_errc::bad_version);
        CHECK(why.size() == 3);
        CHECK_FALSE(why[0].error);
        CHECK(why[1].error == zk_errc::bad_version);
        CHECK_FALSE(observer().exists(at_server(path + "/d")));
    });
}

TEST_CASE("read_all: one state of all nodes, a result for each read") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/a", "1");
        co_await zk.create(path + "/b", "2");
        read_set reads;
        reads.get(path + "/a").children(path).get(path + "/missing").get(path + "/b");
        auto results = co_await zk.read_all(reads);
        CHECK(results.size() == 4);
        CHECK(results[0].data == "1");
        CHECK(results[0].stat.data_length == 1);
        std::set<std::string> names(results[1].names.begin(), results[1].names.end());
        CHECK(names == std::set<std::string>{"a", "b"});
        CHECK(results[2].error == zk_errc::no_node);
        CHECK(results[3].data == "2");
        auto none = co_await zk.read_all(read_set());
        CHECK(none.empty());
        read_set bad;
        bad.get("relative");
        auto [ec, nothing] = co_await zk.read_all(bad, as_tuple());
        CHECK(ec == errc::bad_path);

        // Two nodes that are always changed together never differ, and requests keep their order.
        std::vector<outcome<std::vector<read_result>>> seen(50);
        std::vector<outcome<std::vector<transaction_result>>> changed(50);
        read_set both;
        both.get(path + "/a").get(path + "/b");
        for (std::size_t i = 0; i < seen.size(); ++i) {
            transaction change;
            std::string text = std::to_string(i);
            change.set(path + "/a", text).set(path + "/b", text);
            zk.commit(change, changed[i].handler());
            zk.read_all(both, seen[i].handler());
        }
        for (std::size_t i = 0; i < seen.size(); ++i) {
            error_code read = co_await seen[i].wait();
            CHECK_FALSE(read);
            CHECK(changed[i].done());
            CHECK(seen[i].value()[0].data == std::to_string(i));
            CHECK(seen[i].value()[1].data == std::to_string(i));
        }
    });
}

TEST_CASE("ephemerals, count_descendants, who_am_i") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/a");
        co_await zk.create(path + "/a/b");
        create_options ephemeral{.mode = create_mode::ephemeral};
        co_await zk.create(path + "/e", "", ephemeral);
        auto mine = co_await zk.get_ephemerals(path);
        CHECK(mine == std::vector<std::string>{path + "/e"});
        auto elsewhere = co_await zk.get_ephemerals(path + "/a");
        CHECK(elsewhere.empty());
        // The server would take "/eb" for a node below "/e".
        co_await zk.create(path + "/eb", "", ephemeral);
        auto only = co_await zk.get_ephemerals(path + "/e");
        CHECK(only == std::vector<std::string>{path + "/e"});
        co_await zk.erase(path + "/eb");
        std::size_t below = co_await zk.count_descendants(path);
        CHECK(below == 3);
        auto [ec, count] = co_await zk.count_descendants(path + "/none", as_tuple());
        CHECK(ec == zk_errc::no_node);

        co_await zk.add_auth("digest", "ann:secret");
        std::set<std::string> known;
        std::vector<identity> identities = co_await zk.who_am_i();
        for (const identity& who : identities)
            known.insert(who.scheme + ":" + who.id);
        CHECK(known.contains("ip:127.0.0.1"));
        CHECK(known.contains("digest:ann"));
    });
}

TEST_CASE("size: the largest data fit, more is refused here and not by a dropped connection") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::string almost(1'048'575 - path.size() - 200, 'x');
        co_await zk.set(path, almost);
        node_data read = co_await zk.get(path);
        CHECK(read.data == almost);
        auto [ec, s] = co_await zk.set(path, std::string(1'048'576, 'x'), any_version, as_tuple());
        CHECK(ec == errc::too_large);
        auto made = co_await zk.create(
            path + "/b", std::string(1'048'576, 'x'), create_options(), as_tuple());
        CHECK(std::get<0>(made) == errc::too_large);
        CHECK(zk.counters().connects == 1);
    });
}

TEST_CASE("bad paths: refused by every operation, in words") {
    boost::asio::io_context context;
    std::vector<std::string> lines;
    run(context, [&]() -> awaitable<void> {
        client_options options = quiet_options(the_hosts(), steady_session_timeout);
        options.logger = logger(log_level::warning, [&](log_level, std::string_view text) {
            lines.emplace_back(text);
        });
        client zk = co_await connected_client(options);
        auto sent = zk.counters().requests;
        for (std::string path :
             {"", "a", "/a/", "//", "/a//b", "/..", "/a/../b", "/a/./b", "/a\nb"}) {
            INFO("path \"" << path << "\"");
            lines.clear();
            error_code ec;
            std::tie(ec, std::ignore) = co_await zk.create(path, "", create_options(), as_tuple());
            CHECK(ec == errc::bad_path);
            std::tie(ec) = co_await zk.ensure_path(path, create_options(), as_tuple());
            CHECK(ec == errc::bad_path);
            std::tie(ec, std::ignore) = co_await zk.get(path, as_tuple());
            CHECK(ec == errc::bad_path);
            std::tie(ec, std::ignore) = co_await zk.set(path, "", any_version, as_tuple());
            CHECK(ec == errc::bad_path);
            std::tie(ec, std::ignore) = co_await zk.exists(path, as_tuple());
            CHECK(ec == errc::bad_path);
            std::tie(ec, std::ignore) = co_await zk.get_children(path, as_tuple());
            CHECK(ec == errc::bad_path);
            std::tie(ec) = co_await zk.erase(path, any_version, as_tuple());
            CHECK(ec == errc::bad_path);
            std::tie(ec) = co_await zk.sync(path, as_tuple());
            CHECK(ec == errc::bad_path);
            std::tie(ec, std::ignore) = co_await zk.get_acl(path, as_tuple());
            CHECK(ec == errc::bad_path);
            std::tie(ec) = co_await zk.set_acl(path, corozk::open_acl(), any_version, as_tuple());
            CHECK(ec == errc::bad_path);
            auto data = co_await zk.watch_data(path, as_tuple());
            CHECK(std::get<0>(data) == errc::bad_path);
            auto stat = co_await zk.watch_exists(path, as_tuple());
            CHECK(std::get<0>(stat) == errc::bad_path);
            auto children = co_await zk.watch_children(path, as_tuple());
            CHECK(std::get<0>(children) == errc::bad_path);
            REQUIRE(lines.size() == 13);
            std::string shown = path;
            std::replace(shown.begin(), shown.end(), '\n', '?');
            CHECK_THAT(lines[0], Contains("create: path \"" + shown + "\""));
        }
        CHECK(zk.counters().requests == sent);
        try {
            co_await zk.get("/a/");
            FAIL("no error");
        } catch (const error& e) {
            CHECK(e.code() == errc::bad_path);
            CHECK(e.operation() == "get");
            CHECK(e.path() == "/a/");
            CHECK_THAT(e.what(), Contains("get /a/ (ends with a slash: remove it): bad path"));
        }
        co_await zk.close();
    });
    run_to_idle(context);
}

TEST_CASE("watch_data: fires once on a change or the end") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/a", "1");
        watched_data first = co_await zk.watch_data(path + "/a");
        CHECK(first.node.data == "1");
        CHECK(first.changed.pending());
        CHECK(first.changed.path() == path + "/a");
        observer().set(at_server(path + "/a"), "2");
        watch_event event = co_await first.changed.next();
        CHECK(event.type == watch_event_type::data_changed);
        CHECK(event.path == path + "/a");
        CHECK_FALSE(first.changed.pending());
        auto [ec, none] = co_await first.changed.next(as_tuple());
        CHECK(ec == zk_errc::no_watcher);

        watched_data second = co_await zk.watch_data(path + "/a");
        CHECK(second.node.data == "2");
        co_await zk.erase(path + "/a");
        event = co_await second.changed.next();
        CHECK(event.type == watch_event_type::erased);

        // No node, no watch.
        auto [missing, nothing] = co_await zk.watch_data(path + "/a", as_tuple());
        CHECK(missing == zk_errc::no_node);
        CHECK_FALSE(nothing.changed.pending());
    });
}

TEST_CASE("watch_exists: creation, change and end") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        watched_stat none = co_await zk.watch_exists(path + "/a");
        CHECK_FALSE(none.stat);
        CHECK(none.changed.pending());
        observer().plant(at_server(path + "/a"));
        watch_event event = co_await none.changed.next();
        CHECK(event.type == watch_event_type::created);
        CHECK(event.path == path + "/a");

        watched_stat there = co_await zk.watch_exists(path + "/a");
        CHECK(there.stat);
        co_await zk.set(path + "/a", "x");
        event = co_await there.changed.next();
        CHECK(event.type == watch_event_type::data_changed);

        watched_stat last = co_await zk.watch_exists(path + "/a");
        co_await zk.erase(path + "/a");
        event = co_await last.changed.next();
        CHECK(event.type == watch_event_type::erased);
    });
}

TEST_CASE("watch_children: coming, going, and the parent's end") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/p");
        watched_children empty = co_await zk.watch_children(path + "/p");
        CHECK(empty.children.names.empty());
        observer().plant(at_server(path + "/p/a"));
        watch_event event = co_await empty.changed.next();
        CHECK(event.type == watch_event_type::children_changed);
        CHECK(event.path == path + "/p");

        watched_children one = co_await zk.watch_children(path + "/p");
        CHECK(one.children.names == std::vector<std::string>{"a"});
        // Data are none of its business.
        co_await zk.set(path + "/p", "x");
        co_await zk.set(path + "/p/a", "x");
        co_await zk.sync();
        auto before = zk.counters().notifications;
        co_await zk.erase(path + "/p/a");
        event = co_await one.changed.next();
        CHECK(event.type == watch_event_type::children_changed);
        CHECK(zk.counters().notifications == before + 1);

        watched_children last = co_await zk.watch_children(path + "/p");
        co_await zk.erase(path + "/p");
        event = co_await last.changed.next();
        CHECK(event.type == watch_event_type::erased);
    });
}

TEST_CASE("watch: an event that came before anybody asked is kept") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        watched_data w = co_await zk.watch_data(path);
        co_await zk.set(path, "x");
        co_await zk.sync();
        CHECK(w.changed.pending());
        watch moved = std::move(w.changed);
        watch_event event = co_await moved.next();
        CHECK(event.type == watch_event_type::data_changed);
        CHECK_FALSE(moved.pending());
    });
}

TEST_CASE("watch: several on one node all get their event, with one at the server") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::vector<watch> watches;
        for (int i = 0; i < 10; ++i) {
            watched_data w = co_await zk.watch_data(path);
            watches.push_back(std::move(w.changed));
        }
        watched_children children = co_await zk.watch_children(path);
        watched_stat exists = co_await zk.watch_exists(path);
        co_await zk.set(path, "x");
        for (watch& w : watches) {
            watch_event event = co_await w.next();
            CHECK(event.type == watch_event_type::data_changed);
        }
        watch_event event = co_await exists.changed.next();
        CHECK(event.type == watch_event_type::data_changed);
        CHECK(children.changed.pending());
        CHECK(zk.counters().notifications == 1);
    });
}

TEST_CASE("watch: one that is dropped is taken from the server, if nobody else needs it") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        // Nobody else watches anything at this server.
        auto watchers = [] { return watch_count(the_server().port()); };
        co_await zk.create(path + "/c");
        {
            watched_data a = co_await zk.watch_data(path);
            watched_data b = co_await zk.watch_data(path);
            CHECK(watchers() == 1);
            { watch gone = std::move(a.changed); }
            co_await zk.sync();
            CHECK(watchers() == 1);
            CHECK(b.changed.pending());
        }
        co_await zk.sync();
        CHECK(watchers() == 0);
        CHECK(zk.counters().watches == 0);
        {
            watched_children c = co_await zk.watch_children(path);
            CHECK(watchers() == 1);
        }
        co_await zk.sync();
        CHECK(watchers() == 0);
        {
            watched_stat missing = co_await zk.watch_exists(path + "/none");
            CHECK(watchers() == 1);
            CHECK(zk.counters().watches == 1);
        }
        co_await zk.sync();
        CHECK(watchers() == 0);
        CHECK(zk.counters().watches == 0);
        // And a new one on the same node works.
        watched_data again = co_await zk.watch_data(path);
        CHECK(watchers() == 1);
        co_await zk.set(path, "x");
        watch_event event = co_await again.changed.next();
        CHECK(event.type == watch_event_type::data_changed);
    });
}

TEST_CASE("watch: dropped and set again in the same turn") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::optional<watched_data> w = co_await zk.watch_data(path);
        for (int i = 0; i < 50; ++i) {
            // The removal of the old one and the reading of the new one are on their way together.
            outcome<watched_data> next;
            w.reset();
            zk.watch_data(path, next.handler());
            error_code ec = co_await next.wait();
            REQUIRE_FALSE(ec);
            w = std::move(next.value());
        }
        CHECK(w->changed.pending());
        observer().set(at_server(path), "x");
        watch_event event = co_await w->changed.next();
        CHECK(event.type == watch_event_type::data_changed);
    });
}

TEST_CASE("watch: who waits while it is dropped is told") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        outcome<watch_event> waiting;
        outcome<watch_event> second;
        {
            watched_data w = co_await zk.watch_data(path);
            w.changed.next(waiting.handler());
            w.changed.next(second.handler());
            error_code busy = co_await second.wait();
            CHECK(busy == errc::busy);
            CHECK_FALSE(waiting.done());
        }
        error_code ec = co_await waiting.wait();
        CHECK(ec == boost::asio::error::operation_aborted);
        co_await let_others_run();
        CHECK(waiting.calls() == 1);
        // A coroutine's own `next` keeps a reference to the implementation.
        auto executor = co_await boost::asio::this_coro::executor;
        auto dropped = [&](auto& w) -> awaitable<void> {
            error_code ended;
            bool done = false;
            auto wait = [&]() -> awaitable<void> {
                auto [end, event] = co_await w.next(as_tuple());
                ended = end;
                done = true;
            };
            boost::asio::co_spawn(executor, wait, boost::asio::detached);
            co_await let_others_run();
            CHECK_FALSE(done);
            w = {};
            co_await eventually_async([&] { return done; });
            CHECK(ended == boost::asio::error::operation_aborted);
            co_await settle(zk);
            CHECK(zk.counters().watches == 0);
        };
        watched_data w = co_await zk.watch_data(path);
        co_await dropped(w.changed);
        persistent_watch p = co_await zk.add_watch(path, watch_mode::persistent);
        co_await dropped(p);
        // An empty one has nothing to wait for.
        watch none;
        auto [nothing, event] = co_await none.next(as_tuple());
        CHECK(nothing == zk_errc::no_watcher);
    });
}

TEST_CASE("config: read, watched, and reconfiguration refused where it is switched off") {
    with_client([](client& zk, std::string) -> awaitable<void> {
        node_data config = co_await zk.get_config();
        CHECK(config.stat.czxid >= 0);
        watched_data watched = co_await zk.watch_config();
        CHECK(watched.changed.pending());
        auto [ec, changed] = co_await zk.reconfigure("", "7", "", -1, as_tuple());
        CHECK(ec == zk_errc::reconfig_disabled);
        CHECK_THAT(ec.message(), Contains("reconfigEnabled=true"));
    });
}

TEST_CASE("counters: what happened so far") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client_counters before = zk.counters();
        CHECK(before.connects == 1);
        CHECK(before.expirations == 0);
        CHECK(before.queued == 0);
        co_await zk.set(path, std::string(1000, 'x'));
        co_await zk.get_children(path);
        auto missing = co_await zk.get(path + "/no", as_tuple());
        watched_data w = co_await zk.watch_data(path);
        client_counters after = zk.counters();
        CHECK(after.requests - before.requests >= 4);
        CHECK(after.responses - before.responses >= 4);
        CHECK(after.listings - before.listings == 1);
        CHECK(after.bytes_sent - before.bytes_sent > 1000);
        CHECK(after.bytes_received - before.bytes_received > 1000);
        CHECK(after.watches == before.watches + 1);
        CHECK(after.in_flight == 0);
        outcome<node_data> one, two;
        zk.get(path, one.handler());
        zk.get(path, two.handler());
        CHECK(zk.counters().queued == 2);
        co_await one.wait();
        co_await two.wait();
        CHECK(zk.counters().queued == 0);
        co_await zk.set(path, "y");
        co_await w.changed.next();
        CHECK(zk.counters().notifications == after.notifications + 1);
        CHECK(zk.counters().connection_losses == 0);
    });
}

TEST_CASE("order: operations are carried out and answered in the order of their start") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::vector<int> order;
        constexpr int count = 3000;
        for (int i = 0; i < count; ++i) {
            if (i % 3 == 0) {
                zk.set(path, std::to_string(i), any_version, [&order, i](error_code, corozk::stat) {
                    order.push_back(i);
                });
            } else if (i % 3 == 1) {
                zk.get(path, [&order, i](error_code ec, node_data read) {
                    CHECK_FALSE(ec);
                    CHECK(read.data == std::to_string(i - 1));
                    order.push_back(i);
                });
            } else {
                zk.sync(path, [&order, i](error_code) { order.push_back(i); });
            }
        }
        co_await zk.sync();
        REQUIRE(order.size() == count);
        CHECK(std::is_sorted(order.begin(), order.end()));
    });
}

}  // namespace corozk::testing::client_tests::client_operations_test
