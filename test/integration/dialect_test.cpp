// SPDX-License-Identifier: Apache-2.0
// Servers that know less than ZooKeeper 3.5, or count otherwise, as ClickHouse Keeper does.
#include "client_fixture.hpp"
#include "early_operations.hpp"
#include "pending_result.hpp"
#include <corozk.hpp>
#include <corozk/testing/old_server.hpp>
#include <corozk/testing/raw_session.hpp>

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace corozk::testing::client_tests::dialect_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using wire = corozk::testing::op_code;

namespace {

constexpr std::pair<ignorance, const char*> ways[] = {
    {ignorance::answers, "says so"},
    {ignorance::refuses, "says so and closes the connection"},
    {ignorance::hangs_up, "closes the connection"},
};

constexpr create_mode modes[] = {create_mode::persistent,
                                 create_mode::persistent_sequential,
                                 create_mode::ephemeral,
                                 create_mode::ephemeral_sequential,
                                 create_mode::container};

corozk::acl rights_of_two() {
    return {corozk::acl_entry(permission::all, "world", "anyone"),
            corozk::acl_entry(permission::read, "ip", "127.0.0.1")};
}

configuration_parts two_parts(const std::string& text) {
    return {{"a", text}, {"b", text}};
}

client_options basic() {
    client_options options = quiet_options("");
    options.dialect = server_dialect::zookeeper_3_4;
    return options;
}

/// `body(zk, proxy, path)` with an old server.
template <class Body>
void with_old_server(const old_server& what,
                     Body body,
                     client_options options = quiet_options("")) {
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    play(what, proxy);
    run(
        context,
        [&]() -> awaitable<void> {
            options.hosts = rooted(proxy.hosts());
            client zk = co_await connected_client(options);
            std::string path = fresh_path();
            co_await body(zk, proxy, path);
            co_await zk.close(as_tuple());
        },
        60s);
    run_to_idle(context);
}

/// Repeated after the loss of the connection or session, as a program does. @return its error
template <class Operation>
awaitable<error_code> persist(client& zk, Operation operation) {
    error_code ec = zk_errc::connection_loss;
    // Twice for each operation that is new to the server.
    for (int i = 0; i < 5 && (is_recoverable(ec) || ec == zk_errc::session_expired); ++i) {
        co_await reach(zk, session_state::connected);
        ec = co_await operation();
    }
    co_return ec;
}

/// Finds out what the server knows of what recipes ask; it may close the connection last.
awaitable<void> find_out(client& zk, const std::string& path) {
    error_code ec = co_await persist(zk, [&]() -> awaitable<error_code> {
        auto [failed] = co_await zk.ensure_path(path, create_options(), as_tuple());
        co_return failed;
    });
    CHECK(!ec);
    ec = co_await persist(zk, [&]() -> awaitable<error_code> {
        read_set reads;
        reads.get("/");
        auto [failed, results] = co_await zk.read_all(std::move(reads), as_tuple());
        co_return failed;
    });
    CHECK((!ec || ec == zk_errc::unimplemented));
    ec = co_await persist(zk, [&]() -> awaitable<error_code> {
        auto [failed, root] = co_await zk.exists("/", as_tuple());
        co_return failed;
    });
    CHECK(!ec);
}

/// Closes the client if some have not.
awaitable<void> all_ended(client& zk, const early_operations& asked) {
    const std::multiset<std::string>& waiting = asked.waiting();
    try {
        co_await eventually_async([&] { return waiting.empty(); }, 40s);
        co_return;
    } catch (const timeout_error&) {
        for (const std::string& operation : waiting)
            FAIL_CHECK(operation << " has not ended");
    }
    co_await zk.close(as_tuple());
    co_await eventually_async([&] { return waiting.empty(); });
}

void check_all_well(const early_operations& asked) {
    CHECK(asked.ended() > 50);
    for (const auto& [operation, ec] : asked.answers()) {
        INFO(operation << ": " << ec.message());
        CHECK(!ec);
    }
}

std::uint64_t later_requests(const fault_proxy& proxy) {
    std::uint64_t count = 0;
    const proxy_statistics seen = proxy.statistics();
    for (wire op : later_operations())
        count += seen.requests_of(op);
    return count;
}

}  // namespace

TEST_CASE("dialect: every recipe, and every operation, with a server that is found to be old") {
    for (auto [how, what] : ways) {
        INFO("the server " << what);
        with_old_server({.how = how},
                        [](client& zk, fault_proxy&, std::string path) -> awaitable<void> {
                            co_await find_out(zk, path);
                            early_operations asked(zk, path);
                            asked.ask_all();
                            co_await all_ended(zk, asked);
                            check_all_well(asked);
                        });
    }
}

TEST_CASE("dialect: finding out in the middle of everything") {
    // Besides the client's own operations, which have no dot in their names.
    static const std::set<std::string> not_repeated = {"election.get_leader",
                                                       "lock.list_contenders",
                                                       "semaphore.count_available",
                                                       "contention_inspector.list_contenders"};
    for (auto [how, what] : ways) {
        INFO("the server " << what);
        auto body = [](client& zk, fault_proxy&, std::string path) -> awaitable<void> {
            early_operations asked(zk, path);
            asked.ask_all();
            co_await all_ended(zk, asked);
            for (const auto& [operation, ec] : asked.answers()) {
                INFO(operation << ": " << ec.message());
                const bool single = operation.find('.') == operation.npos;
                const bool repeated = !single && !not_repeated.contains(operation);
                CHECK((!ec || (!repeated && ec == zk_errc::connection_loss)));
            }
        };
        with_old_server({.how = how}, body);
    }
}

TEST_CASE("dialect: chosen, nothing newer is ever asked") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        early_operations asked(zk, path);
        asked.ask_all();
        co_await all_ended(zk, asked);
        check_all_well(asked);
        CHECK(later_requests(proxy) == 0);
        CHECK(zk.counters().connects == 1);
    };
    with_old_server({.how = ignorance::hangs_up}, body, basic());
}

TEST_CASE("dialect: ClickHouse Keeper, which forgets sessions and counts otherwise") {
    const old_server keeper{
        .how = ignorance::hangs_up, .forgets_sessions = true, .keeper_stats = true};
    auto body = [](client& zk, fault_proxy&, std::string path) -> awaitable<void> {
        co_await find_out(zk, path);
        early_operations asked(zk, path);
        asked.ask_all();
        co_await all_ended(zk, asked);
        check_all_well(asked);
    };
    SECTION("found out") {
        with_old_server(keeper, body);
    }
    SECTION("chosen") {
        with_old_server(keeper, body, basic());
    }
}

TEST_CASE("dialect: a created znode is described as by a newer server, but for the times") {
    auto body = [](client& zk, fault_proxy&, std::string path) -> awaitable<void> {
        co_await find_out(zk, path);
        const corozk::acl entries = rights_of_two();
        for (create_mode mode : modes) {
            INFO("mode " << static_cast<int>(mode));
            create_options options;
            options.mode = mode;
            options.acl = &entries;
            const std::string name = path + "/n" + std::to_string(static_cast<int>(mode)) + "-";
            created_node made = co_await zk.create(name, "data", options);
            CHECK(made.path.starts_with(name));
            const bool sequential = mode == create_mode::persistent_sequential ||
                                    mode == create_mode::ephemeral_sequential;
            CHECK(made.path.size() == name.size() + (sequential ? 10 : 0));
            auto found = co_await zk.exists(made.path);
            REQUIRE(found);
            const stat& seen = *found;
            CHECK(made.stat.czxid == seen.czxid);
            CHECK(made.stat.mzxid == seen.mzxid);
            CHECK(made.stat.pzxid == seen.pzxid);
            CHECK(made.stat.ephemeral_owner == seen.ephemeral_owner);
            CHECK(made.stat.data_length == 4);
            CHECK(made.stat.version == 0);
            CHECK(made.stat.num_children == 0);
            CHECK(made.stat.ctime == 0);
            node_data read = co_await zk.get(made.path);
            CHECK(read.data == "data");
            node_acl rights = co_await zk.get_acl(made.path);
            CHECK(rights.acl == entries);
            auto [again, nothing] = co_await zk.create(made.path, as_tuple());
            CHECK(again == zk_errc::node_exists);
            auto [nowhere, no] = co_await zk.create(path + "/no/such", as_tuple());
            CHECK(nowhere == zk_errc::no_node);
        }
    };
    with_old_server({.how = ignorance::refuses}, body);
    with_old_server({.how = ignorance::hangs_up}, body, basic());
}

TEST_CASE("dialect: what the server does not offer is said, and asked no further") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await find_out(zk, path);
        create_options short_lived;
        short_lived.mode = create_mode::persistent_with_ttl;
        short_lived.ttl = 1h;
        auto said = [&](auto operation) -> awaitable<void> {
            for (int i = 0; i < 2; ++i) {
                error_code ec = co_await persist(zk, [&]() -> awaitable<error_code> {
                    auto result = co_await operation();
                    co_return std::get<0>(result);
                });
                CHECK(ec == zk_errc::unimplemented);
            }
        };
        co_await said([&] { return zk.create(path + "/ttl", "", short_lived, as_tuple()); });
        transaction steps;
        steps.create(path + "/a").create(path + "/ttl", "", short_lived);
        co_await said([&] { return zk.commit(steps, as_tuple()); });
        co_await said([&] { return zk.read_all(read_set().get(path), as_tuple()); });
        co_await said([&] { return zk.get_ephemerals("/", as_tuple()); });
        co_await said([&] { return zk.count_descendants(path, as_tuple()); });
        co_await said([&] { return zk.who_am_i(as_tuple()); });
        error_code ec = co_await persist(zk, [&]() -> awaitable<error_code> {
            auto [failed, found] = co_await zk.exists(path + "/a", as_tuple());
            CHECK_FALSE(found);
            co_return failed;
        });
        CHECK(!ec);
        // What it cannot do does not harm what it can.
        co_await zk.create(path + "/a");
        CHECK(later_requests(proxy) < 20);
    };
    for (auto [how, what] : ways) {
        INFO("the server " << what);
        with_old_server({.how = how}, body);
    }
    with_old_server({.how = ignorance::hangs_up}, body, basic());
}

TEST_CASE("dialect: containers in transactions become persistent") {
    auto body = [](client& zk, fault_proxy&, std::string path) -> awaitable<void> {
        create_options container;
        container.mode = create_mode::container;
        transaction steps;
        steps.create(path, "", container).create(path + "/a", "x");
        std::vector<transaction_result> results;
        error_code ec = co_await persist(zk, [&]() -> awaitable<error_code> {
            auto [failed, all] = co_await zk.commit(steps, as_tuple());
            results = std::move(all);
            co_return failed;
        });
        CHECK(!ec);
        REQUIRE(results.size() == 2);
        CHECK(results[0].path == path);
        auto made = co_await zk.exists(path);
        REQUIRE(made);
        CHECK(made->ephemeral_owner == 0);
    };
    for (auto [how, what] : ways) {
        INFO("the server " << what);
        with_old_server({.how = how}, body);
    }
    with_old_server({.how = ignorance::hangs_up}, body, basic());
}

TEST_CASE("dialect: an operation that alone is unknown leaves the others as they are") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await find_out(zk, path);
        for (int i = 0; i < 3; ++i) {
            auto [ec, who] = co_await zk.who_am_i(as_tuple());
            CHECK((ec == zk_errc::connection_loss || ec == zk_errc::unimplemented));
            co_await reach(zk, session_state::connected);
        }
        auto [ec, who] = co_await zk.who_am_i(as_tuple());
        CHECK(ec == zk_errc::unimplemented);
        created_node made = co_await zk.create(path + "/a");
        CHECK(made.stat.ctime != 0);
        CHECK(proxy.statistics().requests_of(wire::who_am_i) == 2);
    };
    with_old_server({.unknown = {wire::who_am_i}, .how = ignorance::hangs_up}, body);
}

TEST_CASE("dialect: a connection that is lost by chance is no reason to ask for less") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        for (int i = 0; i < 4; ++i) {
            const std::string name = path + "/" + std::to_string(i);
            auto rule = proxy.arm(at_op(wire::create2), swallow_reply_and_cut());
            auto [ec, lost] = co_await zk.create(name, as_tuple());
            CHECK(ec == zk_errc::connection_loss);
            CHECK(proxy.fired(rule) == 1);
            co_await reach(zk, session_state::connected);
            created_node made = co_await zk.create(name + "-");
            CHECK(made.stat.ctime != 0);
        }
    };
    with_proxy(body);
}

TEST_CASE("dialect: watches that cannot be removed are forgotten, and can be set anew") {
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await find_out(zk, path);
        for (int i = 0; i < 4; ++i) {
            {
                watched_data dropped = co_await zk.watch_data(path);
                watched_children left = co_await zk.watch_children(path);
                watched_stat none = co_await zk.watch_exists(path + "/none");
            }
            co_await eventually_async([&] { return zk.counters().watches == 0; });
            co_await reach(zk, session_state::connected);
        }
        // Of twelve: three at a time, twice.
        CHECK(proxy.statistics().requests_of(wire::remove_watches) <= 6);
        // One kind of two on the same node.
        watched_children children = co_await zk.watch_children(path);
        { watched_data dropped = co_await zk.watch_data(path); }
        watched_data data = co_await zk.watch_data(path);
        co_await zk.set(path, "new");
        watch_event event = co_await data.changed.next();
        CHECK(event.type == watch_event_type::data_changed);
        co_await zk.create(path + "/child");
        event = co_await children.changed.next();
        CHECK(event.type == watch_event_type::children_changed);
    };
    for (auto [how, what] : ways) {
        INFO("the server " << what);
        with_old_server({.how = how}, body);
        with_old_server({.unknown = {wire::remove_watches}, .how = how}, body);
    }
    with_old_server({.how = ignorance::hangs_up}, body, basic());
}

TEST_CASE("dialect: a persistent watch that is refused leaves the others of its path") {
    for (bool reconnects : {false, true}) {
        CAPTURE(reconnects);
        auto body = [&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            co_await zk.create(path);
            watched_data data = co_await zk.watch_data(path);
            watched_children children = co_await zk.watch_children(path);
            for (watch_mode mode : {watch_mode::persistent, watch_mode::persistent_recursive}) {
                auto [ec, none] = co_await zk.add_watch(path, mode, as_tuple());
                CHECK(ec == zk_errc::unimplemented);
            }
            co_await settle(zk);
            if (reconnects) {
                auto seen = zk.status();
                proxy.cut();
                co_await zk.next_status(seen);
                co_await reach(zk, session_state::connected);
            }
            co_await zk.set(path, "new");
            watch_event event = co_await data.changed.next();
            CHECK(event.type == watch_event_type::data_changed);
            co_await zk.create(path + "/child");
            event = co_await children.changed.next();
            CHECK(event.type == watch_event_type::children_changed);
            CHECK(later_requests(proxy) == 0);
        };
        with_old_server({.how = ignorance::hangs_up}, body, basic());
    }
}

TEST_CASE("dialect: two caches of one tree at a server that has no recursive watches") {
    auto body = [](client& zk, fault_proxy&, std::string path) -> awaitable<void> {
        co_await zk.create(path);
        const std::string child = path + "/a";
        tree_cache first(zk, path);
        tree_cache second(zk, path);
        tree_state one = co_await first.next();
        tree_state two = co_await second.next();
        co_await settle(zk);
        for (const char* text : {"1", "2"}) {
            if (one.nodes->contains(child))
                co_await zk.set(child, text);
            else
                co_await zk.create(child, text);
            auto shows = [&](const tree_state& seen) {
                auto at = seen.nodes->find(child);
                return at != seen.nodes->end() && at->second.data == text;
            };
            while (!shows(one))
                one = co_await first.next(one);
            while (!shows(two))
                two = co_await second.next(two);
        }
    };
    with_old_server({.how = ignorance::hangs_up}, body, basic());
}

TEST_CASE("dialect: a session that is silently replaced is lost") {
    const old_server keeper{.how = ignorance::hangs_up, .forgets_sessions = true};
    auto body = [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        lock mutex(zk, path);
        auto held = co_await mutex.acquire();
        watched_stat watched = co_await zk.watch_exists(path + "/watched");
        const session_status before = zk.status();
        const session_record old = proxy.session();

        proxy.cut();
        auto [ec, event] = co_await watched.changed.next(as_tuple());
        CHECK(ec == zk_errc::session_expired);
        co_await held.wait_lost();
        CHECK_FALSE(held.valid());
        session_status after = co_await reach(zk, session_state::connected);
        CHECK(after.generation == before.generation + 1);
        CHECK(after.session_id != before.session_id);
        CHECK(zk.counters().expirations == 1);

        // The server keeps the old session, and with it the old znode, until its timeout.
        outcome<ownership> again;
        mutex.acquire(again.handler());
        REQUIRE(expire_session(the_server().port(), old.session_id, old.password));
        error_code failed = co_await again.wait();
        CHECK(!failed);
        CHECK(again.value().fencing_token() > held.fencing_token());
    };
    with_old_server(keeper, body, basic());
}

TEST_CASE(
    "dialect: claims of one item can be told apart though sets count as changes of children") {
    const old_server keeper{.how = ignorance::hangs_up, .keeper_stats = true};
    auto body = [](client& zk, fault_proxy&, std::string path) -> awaitable<void> {
        queue items(zk, path);
        co_await items.put("x");
        std::int32_t last = -1;
        for (int i = 0; i < 8; ++i) {
            queue_claim claim = co_await items.consume();
            const std::string node = path + "/" + claim.name() + "/claim";
            auto found = co_await zk.exists(node);
            REQUIRE(found);
            CHECK(found->version != last);
            last = found->version;
            co_await zk.erase(node);
            auto [ec] = co_await claim.acknowledge(as_tuple());
            CHECK(ec == errc::ownership_lost);
        }
        queue_claim claim = co_await items.consume();
        co_await claim.acknowledge();
        std::size_t left = co_await items.count_items();
        CHECK(left == 0);
    };
    with_old_server(keeper, body, basic());
}

TEST_CASE("dialect: configurations are published and read with Keeper's counts") {
    const old_server keeper{.how = ignorance::hangs_up, .keeper_stats = true};
    auto body = [](client& zk, fault_proxy&, std::string path) -> awaitable<void> {
        versioned_configuration versions(zk, path + "/versions");
        ready_configuration ready(zk, path + "/ready");
        configuration single(zk, path + "/single");
        configuration_version whole, other;
        node_state value;
        for (int i = 0; i < 6; ++i) {
            const std::string text = std::to_string(i);
            const configuration_parts parts = two_parts(text);
            co_await versions.publish(parts);
            co_await ready.publish(parts);
            co_await single.publish(text);
            whole = co_await versions.next(whole);
            CHECK(whole.parts->at("a") == text);
            CHECK(whole.status == configuration_status::published);
            other = co_await ready.next(other);
            CHECK(other.parts->at("b") == text);
            value = co_await single.next(value);
            CHECK(value.data == text);
        }
    };
    with_old_server(keeper, body, basic());
}

TEST_CASE("every recipe, while containers are deleted before they have a child") {
    // ZooKeeper 3.10 deletes containers that are not used within minutes.
    std::set<std::string> containers;
    std::set<std::string> deleted;
    boost::asio::io_context context;
    fault_proxy proxy(the_server().port());
    admin hand = observer();
    auto delete_parents = [&](const frame_info& request) {
        for (const auto& [op, path] : operations_in(request)) {
            if (!is_create(op))
                continue;
            if (op == wire::create_container)
                containers.insert(path);
            const std::string parent = path.substr(0, path.rfind('/'));
            if (!containers.contains(parent) || deleted.contains(parent))
                continue;
            try {
                if (hand.erase(parent))
                    deleted.insert(parent);
            } catch (const zookeeper_error&) {
                // It has a child meanwhile, of a request that was sent before this one.
            }
        }
    };
    auto body = [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(rooted(proxy.hosts())));
        auto created = [](const frame_info& f) { return is_create(f.op) || f.op == wire::multi; };
        proxy.arm(at_frame(created).times(0), call_at_request(delete_parents));
        early_operations asked(zk, fresh_path());
        asked.ask_all();
        co_await all_ended(zk, asked);
        check_all_well(asked);
        proxy.disarm_all();
        co_await zk.close(as_tuple());
    };
    run(context, body, 60s);
    run_to_idle(context);
    CHECK(deleted.size() > 10);
}

}  // namespace corozk::testing::client_tests::dialect_test
