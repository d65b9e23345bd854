// SPDX-License-Identifier: Apache-2.0
// The cancellation table of client.hpp, cell by cell: (operation, sent or not, type).
// ctest: CHROOT
#include "client_fixture.hpp"
#include <corozk/client.hpp>

#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace corozk::testing::client_tests::client_cancellation_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using wire = corozk::testing::op_code;
using boost::asio::error::operation_aborted;

namespace {

/// An operation that has been started, whatever its value.
struct started {
    std::function<bool()> done;
    std::function<int()> calls;
    std::function<error_code()> error;
    std::function<void(cancellation_type)> cancel;
};

template <class Value>
started erase_type(outcome<Value> o) {
    return {[o] { return o.done(); },
            [o] { return o.calls(); },
            [o] { return o.error(); },
            [o](cancellation_type type) mutable { o.cancel(type); }};
}

template <class Value, class Start>
started begin(Start start) {
    outcome<Value> o;
    start(o.handler());
    return erase_type(o);
}

struct operation_case {
    std::string name;
    wire op;
    std::function<started(client&, const std::string& path)> start;
    /// Whether the server has carried it out; null for those that change nothing.
    std::function<bool(admin&, const std::string& path)> applied;
};

std::vector<operation_case> reads() {
    std::vector<operation_case> all;
    auto add = [&](std::string name, wire op, auto start) {
        all.push_back({std::move(name), op, start, nullptr});
    };
    add("get", wire::get_data, [](client& zk, const std::string& path) {
        return begin<node_data>([&](auto h) { zk.get(path, std::move(h)); });
    });
    add("exists", wire::exists, [](client& zk, const std::string& path) {
        return begin<std::optional<corozk::stat>>([&](auto h) { zk.exists(path, std::move(h)); });
    });
    add("children", wire::get_children2, [](client& zk, const std::string& path) {
        return begin<node_children>([&](auto h) { zk.get_children(path, std::move(h)); });
    });
    add("sync", wire::sync, [](client& zk, const std::string& path) {
        return begin<std::monostate>([&](auto h) { zk.sync(path, std::move(h)); });
    });
    add("get_acl", wire::get_acl, [](client& zk, const std::string& path) {
        return begin<node_acl>([&](auto h) { zk.get_acl(path, std::move(h)); });
    });
    add("watch_data", wire::get_data, [](client& zk, const std::string& path) {
        return begin<watched_data>([&](auto h) { zk.watch_data(path, std::move(h)); });
    });
    add("watch_exists", wire::exists, [](client& zk, const std::string& path) {
        return begin<watched_stat>([&](auto h) { zk.watch_exists(path, std::move(h)); });
    });
    add("watch_children", wire::get_children2, [](client& zk, const std::string& path) {
        return begin<watched_children>([&](auto h) { zk.watch_children(path, std::move(h)); });
    });
    add("add_watch", wire::add_watch, [](client& zk, const std::string& path) {
        return begin<persistent_watch>(
            [&](auto h) { zk.add_watch(path, watch_mode::persistent, std::move(h)); });
    });
    add("read_all", wire::multi_read, [](client& zk, const std::string& path) {
        return begin<std::vector<read_result>>(
            [&](auto h) { zk.read_all(read_set().get(path), std::move(h)); });
    });
    add("ephemerals", wire::get_ephemerals, [](client& zk, const std::string& path) {
        return begin<std::vector<std::string>>(
            [&](auto h) { zk.get_ephemerals(path, std::move(h)); });
    });
    add("count_descendants",
        wire::get_all_children_number,
        [](client& zk, const std::string& path) {
            return begin<std::size_t>([&](auto h) { zk.count_descendants(path, std::move(h)); });
        });
    add("who_am_i", wire::who_am_i, [](client& zk, const std::string&) {
        return begin<std::vector<identity>>([&](auto h) { zk.who_am_i(std::move(h)); });
    });
    add("config", wire::get_data, [](client& zk, const std::string&) {
        return begin<node_data>([&](auto h) { zk.get_config(std::move(h)); });
    });
    return all;
}

std::vector<operation_case> changes() {
    std::vector<operation_case> all;
    auto add = [&](std::string name, wire op, auto start, auto applied) {
        all.push_back({std::move(name), op, start, applied});
    };
    add(
        "create",
        wire::create2,
        [](client& zk, const std::string& path) {
            return begin<created_node>(
                [&](auto h) { zk.create(path + "/new", "", create_options(), std::move(h)); });
        },
        [](admin& hand, const std::string& path) { return hand.exists(at_server(path + "/new")); });
    add(
        "set",
        wire::set_data,
        [](client& zk, const std::string& path) {
            return begin<corozk::stat>(
                [&](auto h) { zk.set(path, "set", any_version, std::move(h)); });
        },
        [](admin& hand, const std::string& path) { return hand.data(at_server(path)) == "set"; });
    add(
        "erase",
        wire::erase,
        [](client& zk, const std::string& path) {
            return begin<std::monostate>(
                [&](auto h) { zk.erase(path + "/old", any_version, std::move(h)); });
        },
        [](admin& hand, const std::string& path) {
            return !hand.exists(at_server(path + "/old"));
        });
    add(
        "set_acl",
        wire::set_acl,
        [](client& zk, const std::string& path) {
            return begin<std::monostate>(
                [&](auto h) { zk.set_acl(path, corozk::open_acl(), any_version, std::move(h)); });
        },
        [](admin& hand, const std::string& path) {
            return hand.stat(at_server(path))->aversion > 0;
        });
    add(
        "add_auth",
        wire::auth,
        [](client& zk, const std::string&) {
            return begin<std::monostate>(
                [&](auto h) { zk.add_auth("digest", "dave:secret", std::move(h)); });
        },
        nullptr);
    add(
        "commit",
        wire::multi,
        [](client& zk, const std::string& path) {
            transaction t;
            t.set(path, "commit");
            return begin<std::vector<transaction_result>>(
                [&](auto h) { zk.commit(t, std::move(h)); });
        },
        [](admin& hand, const std::string& path) {
            return hand.data(at_server(path)) == "commit";
        });
    add(
        "commit with a time to live",
        wire::multi,
        [](client& zk, const std::string& path) {
            create_options mortal;
            mortal.mode = create_mode::persistent_with_ttl;
            mortal.ttl = 1h;
            transaction t;
            t.create(path + "/mortal", "", mortal);
            return begin<std::vector<transaction_result>>(
                [&](auto h) { zk.commit(t, std::move(h)); });
        },
        [](admin& hand, const std::string& path) {
            return hand.exists(at_server(path + "/mortal"));
        });
    return all;
}

std::string name_of(cancellation_type type) {
    return type == cancellation_type::terminal  ? "terminal"
           : type == cancellation_type::partial ? "partial"
                                                : "total";
}

const std::vector<cancellation_type> types = {
    cancellation_type::terminal, cancellation_type::partial, cancellation_type::total};

/// The operation waits for a connection; it is cancelled; then the connection comes back.
awaitable<void> check_not_sent(operation_case c, cancellation_type type) {
    INFO(c.name << ", not sent, " << name_of(type));
    fault_proxy proxy(the_server().port());
    client zk = co_await connected_client(quiet_options(rooted(proxy.hosts())));
    std::string path = fresh_path();
    co_await zk.create(path);
    co_await zk.create(path + "/old");
    proxy.set_acceptance(acceptance::not_listening);
    proxy.cut();
    co_await reach(zk, session_state::suspended);
    auto before = proxy.statistics().requests_of(c.op);
    started s = c.start(zk, path);
    co_await let_others_run();
    CHECK_FALSE(s.done());
    CHECK(zk.counters().queued == 1);
    s.cancel(type);
    CHECK(zk.counters().queued == 0);
    CHECK_FALSE(s.done());  // never inside
    co_await let_others_run();
    REQUIRE(s.calls() == 1);
    CHECK(s.error() == operation_aborted);
    s.cancel(type);
    proxy.set_acceptance(acceptance::normal);
    co_await reach(zk, session_state::connected);
    co_await zk.sync();
    CHECK(s.calls() == 1);
    if (c.applied) {
        admin hand = observer();
        CHECK_FALSE(c.applied(hand, path));
        CHECK(proxy.statistics().requests_of(c.op) == before);
    }
    CHECK(zk.counters().watches == 0);
    co_await zk.close();
}

/// The operation is on its way and held up; it is cancelled; then it goes on.
awaitable<void> check_sent(operation_case c, cancellation_type type, bool ignored) {
    INFO(c.name << ", sent, " << name_of(type));
    fault_proxy proxy(the_server().port());
    client zk = co_await connected_client(quiet_options(rooted(proxy.hosts())));
    std::string path = fresh_path();
    co_await zk.create(path);
    co_await zk.create(path + "/old");
    co_await zk.sync();
    rule_id rule = proxy.arm(at_op(c.op), hold_request());
    started s = c.start(zk, path);
    co_await eventually_async([&] { return proxy.fired(rule) == 1; });
    CHECK_FALSE(s.done());
    CHECK(zk.counters().in_flight >= 1);
    s.cancel(type);
    CHECK_FALSE(s.done());  // never inside
    co_await let_others_run();
    if (ignored) {
        CHECK_FALSE(s.done());
    } else {
        REQUIRE(s.calls() == 1);
        CHECK(s.error() == operation_aborted);
        s.cancel(type);
    }
    proxy.release(rule);
    co_await zk.sync();
    CHECK(s.calls() == 1);
    if (ignored)
        CHECK_FALSE(s.error());
    if (c.applied) {
        // It was under way: cancelling cannot take it back, only stop waiting.
        admin hand = observer();
        CHECK(c.applied(hand, path));
    }
    // A watch that nobody got is not kept.
    co_await zk.sync();
    CHECK(zk.counters().watches == 0);
    CHECK(watch_count(the_server().port()) == 0);
    CHECK(zk.counters().connects == 1);
    co_await zk.close();
}

template <class Check>
void each(const std::vector<operation_case>& cases, Check check) {
    for (const operation_case& c : cases) {
        for (cancellation_type type : types) {
            boost::asio::io_context context;
            run(context, [&] { return check(c, type); });
            run_to_idle(context);
        }
    }
}

}  // namespace

TEST_CASE("cancel: reads and sync that were not sent") {
    each(reads(),
         [](const operation_case& c, cancellation_type t) { return check_not_sent(c, t); });
}

TEST_CASE("cancel: reads and sync that were sent") {
    each(reads(),
         [](const operation_case& c, cancellation_type t) { return check_sent(c, t, false); });
}

TEST_CASE("cancel: changes that were not sent") {
    each(changes(),
         [](const operation_case& c, cancellation_type t) { return check_not_sent(c, t); });
}

TEST_CASE("cancel: changes that were sent") {
    each(changes(), [](const operation_case& c, cancellation_type t) {
        return check_sent(c, t, t == cancellation_type::total);
    });
}

TEST_CASE("cancel: ensure_path stops waiting") {
    for (cancellation_type type : types) {
        INFO(name_of(type));
        with_proxy([type](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            proxy.arm(at_op(wire::create2), hold_request());
            outcome<> o;
            zk.ensure_path(path + "/a/b", create_options(), o.handler());
            co_await eventually_async([&] { return proxy.statistics().held > 0; });
            o.cancel(type);
            CHECK_FALSE(o.done());
            co_await let_others_run();
            CHECK(o.calls() == 1);
            CHECK(o.error() == operation_aborted);
            proxy.disarm_all();
            co_await zk.sync();
            co_await zk.sync();  // behind what it would send next
            CHECK_FALSE(co_await zk.exists(path + "/a"));
        });
    }
}

TEST_CASE("cancel: ensure_path and erase_tree send nothing that waits for a connection") {
    for (cancellation_type type : types) {
        INFO(name_of(type));
        with_proxy([type](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            co_await zk.ensure_path(path + "/old/child");
            co_await zk.ensure_path(path + "/empty");
            proxy.set_acceptance(acceptance::not_listening);
            proxy.cut();
            co_await reach(zk, session_state::suspended);
            outcome<> calls[4];
            zk.ensure_path(path + "/new", create_options(), calls[0].handler());
            zk.ensure_path("/", create_options(), calls[1].handler());
            zk.erase_tree(path + "/empty", calls[2].handler());
            zk.erase_tree(path + "/old", calls[3].handler());
            co_await let_others_run();
            for (outcome<>& o : calls)
                o.cancel(type);
            co_await let_others_run();
            for (outcome<>& o : calls) {
                CHECK(o.calls() == 1);
                CHECK(o.error() == operation_aborted);
            }
            proxy.set_acceptance(acceptance::normal);
            co_await reach(zk, session_state::connected);
            co_await zk.sync();
            co_await zk.sync();
            CHECK_FALSE(co_await zk.exists(path + "/new"));
            CHECK(co_await zk.exists(path + "/empty"));
            CHECK(co_await zk.exists(path + "/old/child"));
        });
    }
}

TEST_CASE("cancel: erase_tree sends no more of the deletions that were queued") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        for (const char* child : {"/a", "/b", "/c"})
            co_await zk.ensure_path(path + "/tree" + child);
        // The connection is lost before the names arrive, and the cancellation comes meanwhile.
        rule_id listing = proxy.arm(at_op(wire::get_children2), swallow_reply_and_cut());
        const session_status before = zk.status();
        outcome<> o;
        zk.erase_tree(path + "/tree", o.handler());
        co_await eventually_async([&] { return proxy.fired(listing) == 1; });
        o.cancel(cancellation_type::terminal);
        co_await zk.next_status(before);
        co_await reach(zk, session_state::connected);
        co_await zk.sync();
        co_await zk.sync();
        CHECK(o.error() == operation_aborted);
        CHECK(co_await zk.count_descendants(path + "/tree") == 3);
    });
}

TEST_CASE("erase_tree: goes on over lost responses, and stops when it is cancelled") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path + "/a/b/c");
        proxy.arm(at_op(wire::erase), swallow_reply_and_cut());
        proxy.arm(at_op(wire::erase, 3), swallow_reply_and_cut());
        co_await zk.erase_tree(path + "/a");
        proxy.disarm_all();
        for (cancellation_type type : types) {
            INFO(name_of(type));
            co_await zk.ensure_path(path + "/a/b");
            proxy.arm(at_op(wire::erase), hold_request());
            outcome<> o;
            zk.erase_tree(path + "/a", o.handler());
            co_await eventually_async([&] { return proxy.statistics().held > 0; });
            o.cancel(type);
            co_await let_others_run();
            CHECK(o.calls() == 1);
            CHECK(o.error() == operation_aborted);
            proxy.disarm_all();
            co_await zk.sync();
            auto [ec, b] = co_await zk.exists(path + "/a/b", as_tuple());
            CHECK(b.has_value());
        }
    });
}

TEST_CASE("cancel: connect stops trying and closes the client") {
    for (cancellation_type type : types) {
        for (bool server_accepts : {true, false}) {
            INFO(name_of(type));
            boost::asio::io_context context;
            fault_proxy proxy(the_server().port());
            if (server_accepts) {
                proxy.black_hole(true);
            } else {
                proxy.set_acceptance(acceptance::not_listening);
            }
            run(context, [&]() -> awaitable<void> {
                auto executor = co_await boost::asio::this_coro::executor;
                client zk(executor, quiet_options(rooted(proxy.hosts())));
                outcome<> o;
                zk.connect(o.handler());
                if (server_accepts) {
                    co_await eventually_async(
                        [&] { return proxy.statistics().connections_accepted > 0; });
                }
                co_await let_others_run();
                o.cancel(type);
                CHECK_FALSE(o.done());
                CHECK(zk.state() == session_state::closed);
                co_await let_others_run();
                CHECK(o.calls() == 1);
                CHECK(o.error() == operation_aborted);

                outcome<client> made;
                client::connect(executor, quiet_options(rooted(proxy.hosts())), made.handler());
                co_await let_others_run();
                made.cancel(type);
                CHECK_FALSE(made.done());
                co_await let_others_run();
                CHECK(made.calls() == 1);
                CHECK(made.error() == operation_aborted);

                // Before it has begun.
                outcome<client> early;
                client::connect(executor, quiet_options(rooted(proxy.hosts())), early.handler());
                early.cancel(type);
                CHECK_FALSE(early.done());
                co_await let_others_run();
                CHECK(early.calls() == 1);
                CHECK(early.error() == operation_aborted);
            });
            run_to_idle(context);
        }
    }
}

TEST_CASE("cancel: close stops waiting, and the closing goes on") {
    for (cancellation_type type : types) {
        INFO(name_of(type));
        boost::asio::io_context context;
        fault_proxy proxy(the_server().port());
        std::string path = fresh_path();
        run(context, [&]() -> awaitable<void> {
            client zk = co_await connected_client(quiet_options(rooted(proxy.hosts())));
            create_options fleeting;
            fleeting.mode = create_mode::ephemeral;
            co_await zk.create(path, "", fleeting);
            rule_id rule = proxy.arm(at_op(wire::close_session), hold_request());
            outcome<> o;
            zk.close(o.handler());
            co_await eventually_async([&] { return proxy.fired(rule) == 1; });
            o.cancel(type);
            CHECK_FALSE(o.done());
            co_await let_others_run();
            if (type == cancellation_type::total) {
                CHECK_FALSE(o.done());
            } else {
                CHECK(o.calls() == 1);
                CHECK(o.error() == operation_aborted);
            }
            CHECK(zk.state() == session_state::closed);
            proxy.release(rule);
            error_code ec = co_await o.wait();
            if (type == cancellation_type::total)
                CHECK_FALSE(ec);
        });
        run_to_idle(context);
        CHECK_FALSE(observer().exists(at_server(path)));
    }
}

TEST_CASE("cancel: next_status and watch::next") {
    for (cancellation_type type : types) {
        INFO(name_of(type));
        with_client([type](client& zk, std::string path) -> awaitable<void> {
            outcome<session_status> state;
            zk.next_status(zk.status(), state.handler());
            watched_data w = co_await zk.watch_data(path);
            outcome<watch_event> event;
            w.changed.next(event.handler());
            co_await let_others_run();
            CHECK_FALSE(state.done());
            CHECK_FALSE(event.done());
            state.cancel(type);
            event.cancel(type);
            CHECK_FALSE(state.done());
            CHECK_FALSE(event.done());
            co_await let_others_run();
            CHECK(state.calls() == 1);
            CHECK(state.error() == operation_aborted);
            CHECK(event.calls() == 1);
            CHECK(event.error() == operation_aborted);
            // No event is lost to a later call.
            CHECK(w.changed.pending());
            co_await zk.set(path, "x");
            watch_event later = co_await w.changed.next();
            CHECK(later.type == watch_event_type::data_changed);
        });
    }
}

TEST_CASE("cancel: when the answer is there already, one of both is delivered, once") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        int answered = 0;
        int aborted = 0;
        for (int turns = 0; turns < 60; ++turns) {
            outcome<node_data> o;
            zk.get(path, o.handler());
            co_await let_others_run(turns % 12);
            o.cancel(cancellation_type::terminal);
            co_await o.wait();
            co_await zk.sync();
            CHECK(o.calls() == 1);
            bool is_aborted = o.error() == operation_aborted;
            bool either = is_aborted || !o.error();
            CHECK(either);
            ++(is_aborted ? aborted : answered);
        }
        WARN("answered " << answered << ", aborted " << aborted);
    });
}

}  // namespace corozk::testing::client_tests::client_cancellation_test
