// SPDX-License-Identifier: Apache-2.0
// Very many watches, and what becomes of watches when the connection goes.
#include "client_fixture.hpp"
#include <corozk/client.hpp>
#include <corozk/recipe/barrier.hpp>
#include <corozk/testing/turn_clock.hpp>
#include <corozk/testing/wire_lie.hpp>

#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace corozk::testing::client_tests::session_watches_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using wire = corozk::testing::op_code;

namespace {

/// Starts many operations at once and waits for the last: `start(i, handler)`.
template <class Value, class Start>
awaitable<std::vector<Value>> all_of(std::size_t count, Start& start) {
    std::vector<Value> values(count);
    std::size_t done = 0;
    std::size_t failed = 0;
    for (std::size_t i = 0; i < count; ++i) {
        start(i, [&values, &done, &failed, i](error_code ec, Value value = Value()) {
            values[i] = std::move(value);
            if (ec)
                ++failed;
            ++done;
        });
    }
    co_await eventually_async([&] { return done == count; }, 120s, "many operations");
    CHECK(failed == 0);
    co_return values;
}

/// Nobody else watches anything at this server. (`wchc` would not show children's watches.)
std::int64_t at_the_server() {
    return watch_count(the_server().port());
}

std::string in_ms(turn_clock::duration turn) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(turn).count()) +
           " ms";
}

client_options patient_options() {
    client_options options = quiet_options("");
    options.session_timeout = 60s;
    return options;
}

awaitable<void> bounce(client& zk, fault_proxy& proxy) {
    session_status status = zk.status();
    proxy.cut();
    while (status.state != session_state::suspended)
        status = co_await zk.next_status(status);
    while (status.state != session_state::connected)
        status = co_await zk.next_status(status);
}

}  // namespace

TEST_CASE("50,000 watches and a disconnect") {
    constexpr std::size_t count = 50'000;
    boost::asio::io_context context;
    turn_clock turns;
    fault_proxy proxy(the_server().port());
    run(
        context,
        [&]() -> awaitable<void> {
            client_options options = patient_options();
            options.hosts = rooted(proxy.hosts());
            client zk = co_await connected_client(options);
            std::string path = fresh_path();
            auto name = [&](std::size_t i) { return path + "-" + std::to_string(i); };
            auto start = [&](std::size_t i, auto handler) { zk.watch_exists(name(i), handler); };
            std::vector<watched_stat> watches = co_await all_of<watched_stat>(count, start);
            CHECK(zk.counters().watches == count);
            WARN("setting the watches: longest turn " << in_ms(turns.take_longest().took));
            co_await bounce(zk, proxy);
            WARN("disconnect and reconnect: longest turn " << in_ms(turns.take_longest().took));
            co_await eventually_async([&] { return zk.counters().in_flight == 0; }, 60s);
            co_await zk.sync();
            CHECK(zk.counters().watches == count);
            CHECK(zk.counters().connects == 2);
            for (std::size_t i : {std::size_t{0}, std::size_t{1}, count / 2, count - 1}) {
                CHECK(watches[i].changed.pending());
                co_await zk.create(name(i));
                watch_event event = co_await watches[i].changed.next();
                CHECK(event.path == name(i));
                co_await zk.erase(name(i));
            }
            turns.take_longest();
            co_await zk.close();
            WARN("closing: longest turn " << in_ms(turns.take_longest().took));
        },
        240s);
    run_to_idle(context, 30s);
}

TEST_CASE("SetWatches beyond 1 MiB: the connection comes back, and every watch still fires") {
    constexpr std::size_t count = 3000;  // of 512 bytes each
    with_proxy(
        [](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            auto name = [&](std::size_t i) {
                std::string n = path + "/" + std::to_string(i) + "-";
                return n + std::string(512 - n.size(), 'x');
            };
            // A third of each kind.
            auto kind = [](std::size_t i) { return i % 3; };
            auto create = [&](std::size_t i, auto handler) {
                if (kind(i) == 0)
                    return handler(error_code());
                zk.create(name(i), "", create_options(), handler);
            };
            co_await all_of<created_node>(count, create);
            std::vector<watch> watches(count);
            std::size_t set = 0;
            for (std::size_t i = 0; i < count; ++i) {
                auto keep = [&watches, &set, i](error_code ec, auto watched) {
                    if (!ec)
                        ++set;
                    watches[i] = std::move(watched.changed);
                };
                if (kind(i) == 0)
                    zk.watch_exists(name(i), keep);
                if (kind(i) == 1)
                    zk.watch_data(name(i), keep);
                if (kind(i) == 2)
                    zk.watch_children(name(i), keep);
            }
            co_await eventually_async([&] { return set == count; }, 60s);
            auto fire = [](client& by, auto own_name, std::size_t i) {
                if (i % 3 == 0)
                    by.create(own_name(i), "", create_options(), boost::asio::detached);
                if (i % 3 == 1)
                    by.set(own_name(i), "x", any_version, boost::asio::detached);
                if (i % 3 == 2) {
                    by.create(own_name(i) + "/c", "", create_options(), boost::asio::detached);
                }
            };
            client other = co_await connected_client(quiet_options(the_hosts()));
            // Some fire while the connection is away.
            proxy.set_acceptance(acceptance::not_listening);
            session_status status = zk.status();
            proxy.cut();
            while (status.state != session_state::suspended) {
                status = co_await zk.next_status(status);
            }
            constexpr std::size_t meanwhile = 300;
            for (std::size_t i = 0; i < meanwhile; ++i)
                fire(other, name, i);
            co_await other.sync();
            proxy.set_acceptance(acceptance::normal);
            while (status.state != session_state::connected) {
                status = co_await zk.next_status(status);
            }
            for (std::size_t i = 0; i < meanwhile; ++i) {
                INFO("watch " << i);
                watch_event event = co_await watches[i].next();
                CHECK(event.path == name(i));
            }
            co_await eventually_async([&] { return zk.counters().in_flight == 0; }, 60s);
            co_await zk.sync();
            CHECK(zk.generation() == 1);
            CHECK(zk.counters().connects == 2);
            std::size_t pending = 0;
            for (const watch& w : watches)
                pending += w.pending() ? 1 : 0;
            CHECK(pending == count - meanwhile);
            for (std::size_t i = meanwhile; i < count; ++i)
                fire(other, name, i);
            for (std::size_t i = meanwhile; i < count; ++i) {
                watch_event event = co_await watches[i].next();
                CHECK(event.path == name(i));
            }
            std::size_t largest = 0;
            for (const frame_record& r : proxy.log()) {
                if (r.frame.op == wire::set_watches)
                    largest = std::max(largest, r.frame.size);
            }
            CHECK(largest > 0);
            CHECK(largest < 20'000);  // in pieces, although the server takes a megabyte
            co_await zk.sync();
            CHECK(zk.counters().watches == 0);
            CHECK(at_the_server() == 0);
            co_await other.close();
        },
        patient_options(),
        fault_proxy_options{.log_capacity = 50'000},
        240s);
}

TEST_CASE("watches: what changed while the connection was away is told once") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/changed");
        co_await zk.create(path + "/erased");
        co_await zk.create(path + "/parent");
        co_await zk.create(path + "/same");
        watched_data changed = co_await zk.watch_data(path + "/changed");
        watched_data erased = co_await zk.watch_data(path + "/erased");
        watched_children parent = co_await zk.watch_children(path + "/parent");
        watched_stat created = co_await zk.watch_exists(path + "/created");
        watched_data same = co_await zk.watch_data(path + "/same");
        proxy.set_acceptance(acceptance::not_listening);
        proxy.cut();
        co_await reach(zk, session_state::suspended);
        CHECK(changed.changed.pending());
        admin hand = observer();
        std::string at = at_server(path);
        hand.set(at + "/changed", "x");
        hand.erase(at + "/erased");
        hand.plant(at + "/parent/child");
        hand.plant(at + "/created");
        proxy.set_acceptance(acceptance::normal);
        watch_event event = co_await changed.changed.next();
        CHECK(event.type == watch_event_type::data_changed);
        event = co_await erased.changed.next();
        CHECK(event.type == watch_event_type::erased);
        event = co_await parent.changed.next();
        CHECK(event.type == watch_event_type::children_changed);
        event = co_await created.changed.next();
        CHECK(event.type == watch_event_type::created);
        co_await zk.sync();
        CHECK(same.changed.pending());
        CHECK(zk.counters().watches == 1);
    });
}

TEST_CASE(
    "watches: what changed is told although the connection is lost while they are set again") {
    constexpr std::size_t count = 40;  // in several requests
    client_options options = quiet_options("");
    options.max_request_size = 1024;
    for (auto fault : {drop_request_and_cut, swallow_reply_and_cut, cut_after_reply}) {
        for (std::uint64_t k = 1; k <= 3; ++k) {
            INFO("request " << k);
            auto body = [&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
                const std::string longer(40, 'x');
                auto name = [&](std::size_t i) { return path + "/" + longer + std::to_string(i); };
                std::vector<watched_data> watched;
                for (std::size_t i = 0; i < count; ++i) {
                    co_await zk.create(name(i));
                    watched.push_back(co_await zk.watch_data(name(i)));
                }
                proxy.set_acceptance(acceptance::not_listening);
                proxy.cut();
                co_await reach(zk, session_state::suspended);
                admin hand = observer();
                for (std::size_t i = 0; i < count; i += 2)
                    hand.set(at_server(name(i)), "x");
                rule_id rule = proxy.arm(at_op(wire::set_watches, k), fault());
                proxy.set_acceptance(acceptance::normal);
                for (std::size_t i = 0; i < count; i += 2) {
                    INFO("watch " << i);
                    watch_event event = co_await watched[i].changed.next();
                    CHECK(event.type == watch_event_type::data_changed);
                    CHECK_FALSE(watched[i].changed.pending());
                }
                co_await eventually_async([&] { return proxy.fired(rule) == 1; });
                co_await eventually_async([&] { return zk.counters().connects == 3; });
                co_await eventually_async([&] { return zk.counters().in_flight == 0; });
                CHECK(zk.generation() == 1);
                CHECK(zk.counters().watches == count / 2);
                for (std::size_t i = 1; i < count; i += 2) {
                    CHECK(watched[i].changed.pending());
                    hand.set(at_server(name(i)), "x");
                    co_await watched[i].changed.next();
                }
            };
            with_proxy(body, options);
        }
    }
}

TEST_CASE("watches: one that was set after a change does not report it after a reconnect") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        std::vector<watched_data> watched;
        for (int i = 0; i < 3; ++i) {
            co_await zk.set(path, std::to_string(i));
            watched.push_back(co_await zk.watch_data(path));
            // Each connection begins with what the one before it has seen.
            co_await bounce(zk, proxy);
            co_await zk.sync();
            CHECK(watched.back().changed.pending());
        }
        co_await zk.create(path + "/child");
        watched_children children = co_await zk.watch_children(path);
        watched_stat none = co_await zk.watch_exists(path + "/none");
        co_await bounce(zk, proxy);
        co_await zk.sync();
        CHECK(watched.back().changed.pending());
        CHECK(children.changed.pending());
        CHECK(none.changed.pending());
    });
}

TEST_CASE("watches: no other request overtakes those that set them again") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        watched_data watched = co_await zk.watch_data(path);
        outcome<node_data> read = co_await changed_while_away(zk, proxy, path);
        CHECK_FALSE(co_await read.wait());
        CHECK(read.value().data == "new");
        watch_event event = co_await watched.changed.next();
        CHECK(event.type == watch_event_type::data_changed);
        CHECK(sent(proxy, {wire::get_data, wire::set_watches}) ==
              std::vector{wire::get_data, wire::set_watches, wire::get_data});
    });
}

TEST_CASE("watches: a connection on which they are not set again is given up") {
    constexpr const char* errors[] = {"\xff\xff\xff\xfb", "\xff\xff\xff\x81"};
    for (const char* error : errors) {  // MARSHALLINGERROR, THROTTLEDOP
        with_proxy([error](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            watched_data watched = co_await zk.watch_data(path);
            proxy.edit(direction::to_client,
                       [error, done = false](const frame_info& frame, std::string bytes) mutable {
                           const bool first = frame.op == wire::set_watches && !done;
                           if (frame.kind == frame_kind::reply && first) {
                               done = true;
                               bytes.replace(16, 4, error, 4);
                           }
                           return bytes;
                       });
            outcome<node_data> read = co_await changed_while_away(zk, proxy, path);
            // Its response has come, too, and would show the change.
            CHECK(co_await read.wait() == zk_errc::connection_loss);
            watch_event event = co_await watched.changed.next();
            CHECK(event.type == watch_event_type::data_changed);
            // The server sends the event before its response, perhaps by itself.
            co_await eventually_async([&] { return zk.counters().connects == 3; });
        });
    }
}

TEST_CASE("watches: credentials are sent again after a reconnect, before anything else") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await zk.add_auth("digest", "ann:secret");
        const corozk::acl hers = creator_acl();
        create_options own;
        own.acl = &hers;
        co_await zk.create(path + "/hers", "x", own);
        watched_data watched = co_await zk.watch_data(path + "/hers");
        for (int i = 0; i < 2; ++i) {
            co_await bounce(zk, proxy);
            node_data read = co_await zk.get(path + "/hers");
            CHECK(read.data == "x");
        }
        co_await zk.set(path + "/hers", "y");
        watch_event event = co_await watched.changed.next();
        CHECK(event.type == watch_event_type::data_changed);
    });
}

TEST_CASE("watches: dropped ones are taken from the server, whenever they are dropped") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        co_await zk.create(path + "/kept");
        SECTION("while connected") {
            {
                watched_data data = co_await zk.watch_data(path);
                watched_children children = co_await zk.watch_children(path);
                watched_stat none = co_await zk.watch_exists(path + "/none");
                CHECK(at_the_server() == 3);
            }
            co_await zk.sync();
        }
        SECTION("while suspended") {
            {
                watched_data data = co_await zk.watch_data(path);
                watched_children children = co_await zk.watch_children(path);
                watched_stat none = co_await zk.watch_exists(path + "/none");
                proxy.set_acceptance(acceptance::not_listening);
                proxy.cut();
                co_await reach(zk, session_state::suspended);
            }
            proxy.set_acceptance(acceptance::normal);
            co_await reach(zk, session_state::connected);
            co_await zk.sync();
        }
        SECTION("and the answer is lost") {
            {
                watched_data data = co_await zk.watch_data(path);
                proxy.arm(at_op(wire::remove_watches), swallow_reply_and_cut());
            }
            session_status status = zk.status();
            while (status.state != session_state::suspended) {
                status = co_await zk.next_status(status);
            }
            co_await reach(zk, session_state::connected);
            co_await zk.sync();
        }
        SECTION("and the request is lost") {
            {
                watched_children data = co_await zk.watch_children(path);
                proxy.arm(at_op(wire::remove_watches), drop_request_and_cut());
            }
            session_status status = zk.status();
            while (status.state != session_state::suspended) {
                status = co_await zk.next_status(status);
            }
            co_await reach(zk, session_state::connected);
            co_await zk.sync();
        }
        SECTION("when another one was cancelled before it was sent") {
            outcome<watched_data> never_sent;
            zk.watch_data(path, never_sent.handler());
            never_sent.cancel(cancellation_type::terminal);
            CHECK(co_await never_sent.wait() == boost::asio::error::operation_aborted);
            {
                watched_data data = co_await zk.watch_data(path);
                CHECK(at_the_server() == 1);
            }
            co_await zk.sync();
        }
        SECTION("while another one on the same node is on its way") {
            outcome<watched_data> second;
            rule_id rule{};
            {
                watched_children first = co_await zk.watch_children(path);
                rule = proxy.arm(at_op(wire::get_data), hold_request());
                zk.watch_data(path, second.handler());
                co_await eventually_async([&] { return proxy.fired(rule) == 1; });
            }
            proxy.release(rule);
            co_await second.wait();
            co_await zk.sync();
            // A change of the children is nobody's business any more.
            auto before = zk.counters().notifications;
            co_await zk.create(path + "/child");
            co_await zk.sync();
            CHECK(zk.counters().notifications == before);
            CHECK(second.value().changed.pending());
            second.value().changed = watch();
            co_await zk.sync();
        }
        co_await zk.sync();
        CHECK(at_the_server() == 0);
        CHECK(zk.counters().watches == 0);
        // One that is set again afterwards works.
        watched_data again = co_await zk.watch_data(path);
        co_await bounce(zk, proxy);
        CHECK(again.changed.pending());
        co_await zk.set(path, "x");
        co_await again.changed.next();
    });
}

/// No server sends one.
TEST_CASE("watches: an event that says that the session is over costs the connection only") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        watched_data kept = co_await zk.watch_data(path);
        proxy.edit(direction::to_client, liar(wire_lie::session_event, 1, 1));
        auto [ec, seen] = co_await zk.watch_children(path, as_tuple());
        CHECK(ec == zk_errc::connection_loss);
        proxy.edit(direction::to_client, nullptr);
        co_await reach(zk, session_state::connected);
        CHECK(zk.generation() == 1);
        CHECK(kept.changed.pending());
        co_await zk.set(path, "x");
        co_await kept.changed.next();
        CHECK(zk.counters().watches == 0);
    });
}

}  // namespace corozk::testing::client_tests::session_watches_test
