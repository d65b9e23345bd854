// SPDX-License-Identifier: Apache-2.0
// Persistent watches, and how they and others of the same client on the same node get along.
// ctest: CHROOT
#include "client_fixture.hpp"
#include <corozk/client.hpp>
#include <corozk/persistent_watch.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/queue.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/detached.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk::testing::client_tests::persistent_watch_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;
using wire = corozk::testing::op_code;
using enum watch_event_type;

namespace {

constexpr watch_mode both_modes[] = {watch_mode::persistent, watch_mode::persistent_recursive};

std::string text(const watch_event& event) {
    return std::string(to_string(event.type)) + " " + event.path;
}

/// The next `count` events.
awaitable<std::vector<std::string>> events(persistent_watch& w, std::size_t count) {
    std::vector<std::string> all;
    while (all.size() < count) {
        watch_event event = co_await w.next();
        all.push_back(text(event));
    }
    co_return all;
}

/// All events that have been sent up to now.
awaitable<std::vector<std::string>> events_until_now(client& zk, persistent_watch& w) {
    std::vector<std::string> all;
    co_await zk.sync();
    for (;;) {
        outcome<watch_event> next;
        w.next(next.handler());
        co_await let_others_run();
        if (!next.done()) {
            next.cancel(cancellation_type::terminal);
            co_await next.wait();
            co_return all;
        }
        if (next.error())
            co_return all;
        all.push_back(text(next.value()));
    }
}

std::int64_t at_the_server() {
    return watch_count(the_server().port());
}

/// Requests that follow from earlier ones have been answered: a cancelled watch is added, then removed,
/// then what the server has forgotten with it is set again.
awaitable<void> settle(client& zk) {
    for (int step = 0; step < 3; ++step) {
        co_await let_others_run();
        co_await zk.sync();
    }
}

awaitable<void> bounce(client& zk, fault_proxy& proxy) {
    session_status status = zk.status();
    proxy.cut();
    while (status.state != session_state::suspended)
        status = co_await zk.next_status(status);
    co_await reach(zk, session_state::connected);
}

/// A one-shot watch of some kind.
struct one_shot {
    enum class kind : std::uint8_t { data, exists, children };

    awaitable<void> set(client& zk, kind k, std::string path) {
        if (k == kind::data) {
            watched_data w = co_await zk.watch_data(path);
            changed = std::move(w.changed);
        } else if (k == kind::exists) {
            watched_stat w = co_await zk.watch_exists(path);
            changed = std::move(w.changed);
        } else {
            watched_children w = co_await zk.watch_children(path);
            changed = std::move(w.changed);
        }
    }

    watch changed;
};

constexpr one_shot::kind all_kinds[] = {
    one_shot::kind::data, one_shot::kind::exists, one_shot::kind::children};

/// Makes a change that fires such a watch, and says which events a persistent one gets.
awaitable<std::vector<std::string>> change(admin& hand,
                                           one_shot::kind k,
                                           const std::string& path,
                                           watch_mode mode) {
    static int number = 0;
    if (k != one_shot::kind::children) {
        hand.set(at_server(path), "x" + std::to_string(++number));
        co_return std::vector{text(watch_event(data_changed, path))};
    }
    std::string child = path + "/c" + std::to_string(++number);
    hand.plant(at_server(child));
    co_return std::vector{mode == watch_mode::persistent ? text(watch_event(children_changed, path))
                                                         : text(watch_event(created, child))};
}

}  // namespace

TEST_CASE("persistent watch: every change of the node and of its list of children, in order") {
    with_client([](client& zk, std::string folder) -> awaitable<void> {
        std::string path = folder + "/node";
        persistent_watch w = co_await zk.add_watch(path, watch_mode::persistent);
        CHECK(w.path() == path);
        CHECK(w.pending());
        for (int round = 0; round < 2; ++round) {
            co_await zk.create(path);
            co_await zk.set(path, "1");
            co_await zk.set(path, "2");
            co_await zk.create(path + "/child");
            co_await zk.set(path + "/child", "1");
            co_await zk.create(path + "/child/below");
            co_await zk.erase(path + "/child/below");
            co_await zk.erase(path + "/child");
            co_await zk.erase(path);
            auto seen = co_await events(w, 6);
            CHECK(seen == std::vector<std::string>{"created " + path,
                                                   "data_changed " + path,
                                                   "data_changed " + path,
                                                   "children_changed " + path,
                                                   "children_changed " + path,
                                                   "erased " + path});
        }
        auto rest = co_await events_until_now(zk, w);
        CHECK(rest.empty());
        CHECK(at_the_server() > 0);
        w = persistent_watch();
        co_await settle(zk);
        CHECK(at_the_server() == 0);
        CHECK(zk.counters().watches == 0);
    });
}

TEST_CASE("persistent watch: recursive, every change of the node and its descendants, in order") {
    with_client([](client& zk, std::string folder) -> awaitable<void> {
        std::string path = folder + "/node";
        persistent_watch w = co_await zk.add_watch(path, watch_mode::persistent_recursive);
        for (int round = 0; round < 2; ++round) {
            co_await zk.create(path);
            co_await zk.set(path, "1");
            co_await zk.create(path + "/child");
            co_await zk.set(path + "/child", "1");
            co_await zk.create(path + "/child/below");
            co_await zk.create(path + "x");  // a neighbour
            co_await zk.erase(path + "x");
            co_await zk.erase(path + "/child/below");
            co_await zk.erase(path + "/child");
            co_await zk.erase(path);
            auto seen = co_await events(w, 8);
            CHECK(seen == std::vector<std::string>{"created " + path,
                                                   "data_changed " + path,
                                                   "created " + path + "/child",
                                                   "data_changed " + path + "/child",
                                                   "created " + path + "/child/below",
                                                   "erased " + path + "/child/below",
                                                   "erased " + path + "/child",
                                                   "erased " + path});
        }
        auto rest = co_await events_until_now(zk, w);
        CHECK(rest.empty());
        w = persistent_watch();
        co_await settle(zk);
        CHECK(at_the_server() == 0);
        CHECK(zk.counters().watches == 0);
    });
}

TEST_CASE("persistent watch: of the root") {
    with_client([](client& zk, std::string folder) -> awaitable<void> {
        persistent_watch names = co_await zk.add_watch("/", watch_mode::persistent);
        co_await zk.create(folder + "-other");
        auto seen = co_await events(names, 1);
        CHECK(seen.front() == "children_changed /");
        persistent_watch all = co_await zk.add_watch("/", watch_mode::persistent_recursive);
        co_await zk.create(folder + "/child");
        co_await zk.erase(folder + "-other");
        seen = co_await events(all, 2);
        CHECK(seen == std::vector<std::string>{"created " + folder + "/child",
                                               "erased " + folder + "-other"});
        seen = co_await events_until_now(zk, names);
        CHECK(seen == std::vector<std::string>{"children_changed /"});
    });
}

TEST_CASE(
    "persistent watch: an event is before the response that shows the change, and after earlier "
    "ones") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        for (watch_mode mode : both_modes) {
            persistent_watch w = co_await zk.add_watch(path, mode);
            std::vector<std::string> order;
            auto note = [&](std::string what) {
                return [&order, what](error_code, auto&&...) { order.push_back(what); };
            };
            read_set reads;
            reads.get(path);
            w.next(note("event"));
            zk.get(path, note("get before"));
            zk.read_all(reads, note("read_all before"));
            zk.set(path, "x", note("set"));
            zk.get(path, note("get after"));
            zk.read_all(reads, note("read_all after"));
            co_await zk.sync();
            CHECK(order == std::vector<std::string>{"get before",
                                                    "read_all before",
                                                    "event",
                                                    "set",
                                                    "get after",
                                                    "read_all after"});
        }
    });
}

TEST_CASE("persistent watch: one-shot watches of the same node, in every order") {
    boost::asio::io_context context;
    admin hand = observer();
    run(
        context,
        [&]() -> awaitable<void> {
            client zk = co_await connected_client(quiet_options(the_hosts()));
            for (watch_mode mode : both_modes) {
                for (one_shot::kind kind : all_kinds) {
                    for (int order = 0; order < 4; ++order) {
                        CAPTURE(mode, kind, order);
                        std::string path = fresh_path();
                        co_await zk.create(path);
                        one_shot once;
                        persistent_watch w;
                        outcome<persistent_watch> adding;
                        if (order == 0 || order == 3)
                            co_await once.set(zk, kind, path);
                        if (order == 1)
                            zk.add_watch(path, mode, adding.handler());  // both are in flight
                        else
                            w = co_await zk.add_watch(path, mode);
                        if (order == 1 || order == 2)
                            co_await once.set(zk, kind, path);
                        if (order == 1) {
                            co_await adding.wait();
                            w = std::move(adding.value());
                        }
                        // Several times: each is set again after it has fired.
                        for (int round = 0; round < 3; ++round) {
                            CAPTURE(round);
                            auto expected = co_await change(hand, kind, path, mode);
                            watch_event event = co_await once.changed.next();
                            CHECK(event.path == path);
                            // The server forgets one of the children when a recursive one comes:
                            // it is set again, and may find that something has changed.
                            bool set_again = round == 0 && order != 2 &&
                                             kind == one_shot::kind::children &&
                                             mode == watch_mode::persistent_recursive;
                            if (event.type != unknown || !set_again) {
                                CHECK(event.type == (kind == one_shot::kind::children
                                                         ? children_changed
                                                         : data_changed));
                            }
                            auto seen = co_await events_until_now(zk, w);
                            CHECK(seen == expected);
                            co_await once.set(zk, kind, path);
                        }
                        if (order == 3) {
                            // The one-shot watch ends first.
                            once.changed = watch();
                            co_await settle(zk);
                            for (one_shot::kind k : all_kinds) {
                                auto expected = co_await change(hand, k, path, mode);
                                auto seen = co_await events_until_now(zk, w);
                                CHECK(seen == expected);
                            }
                            w = persistent_watch();
                        } else {
                            // The persistent one ends first.
                            w = persistent_watch();
                            if (order == 2)
                                co_await settle(zk);
                            co_await change(hand, kind, path, mode);
                            watch_event event = co_await once.changed.next();
                            CHECK(event.path == path);
                        }
                        once.changed = watch();
                        co_await settle(zk);
                        CHECK(at_the_server() == 0);
                        CHECK(zk.counters().watches == 0);
                    }
                }
            }
            co_await zk.close();
        },
        120s);
    run_to_idle(context);
}

TEST_CASE("persistent watch: one-shot watches of descendants fire as without it") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        std::string child = path + "/child";
        co_await zk.create(child);
        persistent_watch w = co_await zk.add_watch(path, watch_mode::persistent_recursive);
        for (one_shot::kind kind : all_kinds) {
            one_shot once;
            co_await once.set(zk, kind, child);
            if (kind == one_shot::kind::children)
                co_await zk.create(child + "/below");
            else
                co_await zk.set(child, "x");
            watch_event event = co_await once.changed.next();
            CHECK(event.path == child);
            auto seen = co_await events(w, 1);
            CHECK(seen.front() == (kind == one_shot::kind::children ? "created " + child + "/below"
                                                                    : "data_changed " + child));
        }
        one_shot unused;
        co_await unused.set(zk, one_shot::kind::data, child);
        unused.changed = watch();
        co_await settle(zk);
        co_await zk.set(child, "y");
        auto seen = co_await events_until_now(zk, w);
        CHECK(seen == std::vector<std::string>{"data_changed " + child});
    });
}

TEST_CASE("persistent watch: recipes whose parent znode it watches") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        client other = co_await connected_client(quiet_options(the_hosts()));
        for (watch_mode mode : both_modes) {
            for (bool before : {true, false}) {
                CAPTURE(mode, before);
                std::string parent = path + (before ? "/before" : "/after") +
                                     (mode == watch_mode::persistent ? "1" : "2");
                co_await zk.create(parent);
                persistent_watch w;
                if (before)
                    w = co_await zk.add_watch(parent, mode);
                // A consumer watches the children of its znode.
                queue mine(zk, parent + "/queue");
                queue theirs(other, parent + "/queue");
                persistent_watch of_queue;
                if (before)
                    of_queue = co_await zk.add_watch(parent + "/queue", mode);
                for (int round = 0; round < 3; ++round) {
                    outcome<queue_item> taken;
                    mine.take(taken.handler());
                    co_await settle(zk);
                    if (!before && round == 0) {
                        w = co_await zk.add_watch(parent, mode);
                        of_queue = co_await zk.add_watch(parent + "/queue", mode);
                    }
                    co_await theirs.put("item");
                    CHECK_FALSE(co_await taken.wait());
                    if (round == 1)
                        of_queue = persistent_watch();
                }
                lock first(other, parent);
                lock second(zk, parent);
                ownership held = co_await first.acquire();
                outcome<ownership> waiting;
                second.acquire(waiting.handler());
                co_await settle(zk);
                co_await held.release();
                CHECK_FALSE(co_await waiting.wait());
                co_await waiting.value().release();
            }
        }
        co_await other.close();
    });
}

TEST_CASE("persistent watch: two on the same node") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        SECTION("in both modes") {
            persistent_watch names, all;
            SECTION("persistent first") {
                names = co_await zk.add_watch(path, watch_mode::persistent);
                all = co_await zk.add_watch(path, watch_mode::persistent_recursive);
            }
            SECTION("recursive first") {
                all = co_await zk.add_watch(path, watch_mode::persistent_recursive);
                names = co_await zk.add_watch(path, watch_mode::persistent);
            }
            one_shot once;
            for (int round = 0; round < 2; ++round) {
                co_await zk.set(path, "x");
                co_await zk.create(path + "/child");
                co_await zk.set(path + "/child", "x");
                co_await zk.create(path + "/child/below");
                co_await zk.erase(path + "/child/below");
                co_await zk.erase(path + "/child");
                auto seen = co_await events_until_now(zk, names);
                CHECK(seen == std::vector<std::string>{"data_changed " + path,
                                                       "children_changed " + path,
                                                       "children_changed " + path});
                seen = co_await events_until_now(zk, all);
                CHECK(seen.size() == 6);
                // The events are the same with a watch of the children.
                if (round == 0)
                    co_await once.set(zk, one_shot::kind::children, path);
            }
            co_await once.changed.next();
            all = persistent_watch();
            co_await settle(zk);
            co_await zk.create(path + "/child");
            auto seen = co_await events_until_now(zk, names);
            CHECK(seen == std::vector<std::string>{"children_changed " + path});
            names = persistent_watch();
        }
        SECTION("in the same mode, the first of which ends") {
            for (watch_mode mode : both_modes) {
                persistent_watch first = co_await zk.add_watch(path, mode);
                persistent_watch second = co_await zk.add_watch(path, mode);
                first = persistent_watch();
                co_await settle(zk);
                co_await zk.set(path, "x");
                auto seen = co_await events_until_now(zk, second);
                CHECK(seen == std::vector<std::string>{"data_changed " + path});
            }
        }
        SECTION("one after the other, without a pause") {
            for (watch_mode mode : both_modes) {
                persistent_watch w = co_await zk.add_watch(path, mode);
                w = persistent_watch();
                w = co_await zk.add_watch(path, mode);
                co_await zk.set(path, "x");
                auto seen = co_await events(w, 1);
                CHECK(seen == std::vector<std::string>{"data_changed " + path});
            }
        }
        SECTION("of two clients") {
            client other = co_await connected_client(quiet_options(the_hosts()));
            persistent_watch here = co_await zk.add_watch(path, watch_mode::persistent);
            persistent_watch there =
                co_await other.add_watch(path, watch_mode::persistent_recursive);
            here = persistent_watch();
            co_await settle(zk);
            co_await zk.set(path, "x");
            auto seen = co_await events(there, 1);
            CHECK(seen.front() == "data_changed " + path);
            co_await other.close();
        }
        co_await settle(zk);
        CHECK(at_the_server() == 0);
    });
}

TEST_CASE("persistent watch: after a reconnect it says that changes may have been missed") {
    for (watch_mode mode : both_modes) {
        with_proxy([mode](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
            persistent_watch w = co_await zk.add_watch(path, mode);
            persistent_watch second = co_await zk.add_watch(path, mode);
            std::vector<one_shot> once(3);
            std::vector<one_shot> same(3);
            co_await zk.create(path + "/same");
            for (one_shot::kind kind : all_kinds) {
                co_await once[static_cast<std::size_t>(kind)].set(zk, kind, path);
                co_await same[static_cast<std::size_t>(kind)].set(zk, kind, path + "/same");
            }
            persistent_watch unchanged = co_await zk.add_watch(path + "/same", mode);
            co_await events(w, 1);
            for (int round = 0; round < 2; ++round) {
                proxy.set_acceptance(acceptance::not_listening);
                proxy.cut();
                co_await reach(zk, session_state::suspended);
                admin hand = observer();
                hand.set(at_server(path), "missed");
                hand.plant(at_server(path) + "/missed" + std::to_string(round));
                proxy.set_acceptance(acceptance::normal);
                watch_event event = co_await w.next();
                CHECK(event.type == unknown);
                CHECK(event.path == path);
                co_await zk.set(path, "seen");
                event = co_await w.next();
                CHECK(text(event) == "data_changed " + path);
                if (round > 0)
                    continue;
                for (one_shot& each : once)
                    co_await each.changed.next();
            }
            auto seen = co_await events_until_now(zk, unchanged);
            CHECK(seen == std::vector<std::string>{"unknown " + path + "/same"});
            for (one_shot& each : same)
                CHECK(each.changed.pending());
            w = persistent_watch();
            second = persistent_watch();
            unchanged = persistent_watch();
            co_await settle(zk);
            co_await bounce(zk, proxy);
            co_await zk.sync();
            for (one_shot& each : same)
                CHECK(each.changed.pending());
            co_await zk.create(path + "/same/child");
            co_await same[2].changed.next();
            co_await zk.set(path + "/same", "x");
            co_await same[0].changed.next();
            co_await same[1].changed.next();
            co_await settle(zk);
            CHECK(at_the_server() == 0);
        });
    }
}

TEST_CASE("persistent watch: one that ends while suspended is not set again") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        one_shot once;
        {
            persistent_watch w = co_await zk.add_watch(path, watch_mode::persistent);
            co_await once.set(zk, one_shot::kind::data, path);
            proxy.set_acceptance(acceptance::not_listening);
            proxy.cut();
            co_await reach(zk, session_state::suspended);
        }
        proxy.set_acceptance(acceptance::normal);
        co_await reach(zk, session_state::connected);
        co_await settle(zk);
        CHECK(at_the_server() == 1);
        CHECK(once.changed.pending());
        co_await zk.set(path, "x");
        co_await once.changed.next();
        co_await settle(zk);
        CHECK(at_the_server() == 0);
    });
}

TEST_CASE("persistent watch: very many, and a reconnect") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        constexpr std::size_t count = 2'000;
        std::vector<outcome<persistent_watch>> adding(count);
        for (std::size_t i = 0; i < count; ++i)
            zk.add_watch(path + "/" + std::to_string(i), both_modes[i % 2], adding[i].handler());
        for (auto& each : adding)
            CHECK_FALSE(co_await each.wait());
        CHECK(zk.counters().watches == count);
        co_await bounce(zk, proxy);
        for (auto& each : adding) {
            watch_event event = co_await each.value().next();
            CHECK(event.type == unknown);
        }
        adding.clear();
        co_await settle(zk);
        co_await eventually_async(
            [&] { return zk.counters().in_flight + zk.counters().queued == 0; });
        CHECK(at_the_server() == 0);
        CHECK(zk.counters().watches == 0);
    });
}

TEST_CASE("persistent watch: cancelled at any time, it is not left behind") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        outcome<persistent_watch> adding;
        rule_id rule{};
        SECTION("before it is sent") {
            zk.add_watch(path, watch_mode::persistent, adding.handler());
            adding.cancel(cancellation_type::total);
            CHECK(co_await adding.wait() == boost::asio::error::operation_aborted);
            co_await settle(zk);
            CHECK(proxy.statistics().requests_of(wire::add_watch) == 0);
        }
        SECTION("before the server has it") {
            rule = proxy.arm(at_op(wire::add_watch), hold_request());
        }
        SECTION("before its response") {
            rule = proxy.arm(at_op(wire::add_watch), hold_reply());
        }
        if (rule != rule_id{}) {
            one_shot once;
            co_await once.set(zk, one_shot::kind::data, path);
            zk.add_watch(path, watch_mode::persistent, adding.handler());
            co_await eventually_async([&] { return proxy.fired(rule) == 1; });
            adding.cancel(cancellation_type::total);
            CHECK(co_await adding.wait() == boost::asio::error::operation_aborted);
            proxy.release(rule);
            co_await settle(zk);
            CHECK(at_the_server() == 1);
            CHECK(once.changed.pending());
            co_await zk.set(path, "x");
            co_await once.changed.next();
        }
        co_await settle(zk);
        CHECK(at_the_server() == 0);
        CHECK(zk.counters().watches == 0);
    });
}

TEST_CASE("persistent watch: next") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        persistent_watch none;
        CHECK(none.path().empty());
        CHECK_FALSE(none.pending());
        outcome<watch_event> of_none;
        // Without a client it would run on a thread of Asio's.
        none.next(boost::asio::bind_executor(zk.get_executor(), of_none.handler()));
        CHECK(co_await of_none.wait() == zk_errc::no_watcher);

        persistent_watch w = co_await zk.add_watch(path, watch_mode::persistent);
        outcome<watch_event> first, second, last;
        w.next(first.handler());
        w.next(second.handler());
        CHECK(co_await second.wait() == errc::busy);
        first.cancel(cancellation_type::total);
        CHECK(co_await first.wait() == boost::asio::error::operation_aborted);
        co_await zk.set(path, "x");
        auto seen = co_await events(w, 1);
        CHECK(seen.front() == "data_changed " + path);
        w.next(last.handler());
        w = persistent_watch();
        CHECK(co_await last.wait() == boost::asio::error::operation_aborted);
    });
}

TEST_CASE("persistent watch: what is not retrieved is bounded") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        persistent_watch w = co_await zk.add_watch(path, watch_mode::persistent_recursive);
        std::string name = path + "/" + std::string(1'000, 'x');
        constexpr int count = 400;
        int done = 0;
        for (int i = 0; i < count; ++i)
            zk.create(name + std::to_string(i),
                      [&done](error_code ec, created_node) { done += ec ? 0 : 1; });
        co_await eventually_async([&] { return done == count; });
        auto seen = co_await events_until_now(zk, w);
        REQUIRE(!seen.empty());
        CHECK(seen.size() < 300);
        CHECK(seen.front() == "unknown " + path);
        CHECK(seen.back() == "created " + name + std::to_string(count - 1));
    });
}

TEST_CASE("persistent watch: the end of the session, of the client, and of its process") {
    boost::asio::io_context context;
    outcome<watch_event> lost, closed, destroyed, abandoned;
    std::vector<persistent_watch> kept(4);
    fault_proxy proxy(the_server().port());
    run(context, [&]() -> awaitable<void> {
        client zk = co_await connected_client(quiet_options(rooted(proxy.hosts())));
        kept[0] = co_await zk.add_watch("/", watch_mode::persistent);
        kept[0].next(lost.handler());
        expire_through(proxy);
        CHECK(co_await lost.wait() == zk_errc::session_expired);
        CHECK_FALSE(kept[0].pending());
        co_await reach(zk, session_state::connected);
        CHECK(zk.counters().watches == 0);
        kept[1] = co_await zk.add_watch("/", watch_mode::persistent_recursive);
        kept[1].next(closed.handler());
        co_await zk.close();
        CHECK(co_await closed.wait() == errc::closed);
        outcome<persistent_watch> late;
        zk.add_watch("/", watch_mode::persistent, late.handler());
        CHECK(co_await late.wait() == errc::closed);
        {
            client brief = co_await connected_client(quiet_options(the_hosts()));
            kept[2] = co_await brief.add_watch("/", watch_mode::persistent);
            kept[2].next(destroyed.handler());
        }
        CHECK(co_await destroyed.wait() == errc::closed);
    });
    run_to_idle(context);
    {
        boost::asio::io_context brief;
        persistent_watch left;
        boost::asio::co_spawn(
            brief,
            [&]() -> awaitable<void> {
                client zk = co_await connected_client(quiet_options(the_hosts()));
                left = co_await zk.add_watch("/", watch_mode::persistent);
                left.next(abandoned.handler());
                co_await left.next(as_tuple());
                brief.stop();
                co_await let_others_run();
            },
            boost::asio::detached);
        brief.run();
    }
    CHECK(abandoned.calls() == 0);
}

namespace {

/// Changes the next `count` requests for a persistent watch in flight.
void edit_requests(fault_proxy& proxy, int count, void (*edit)(std::string& bytes)) {
    auto change = [edit, count](const frame_info& frame, std::string bytes) mutable {
        if (frame.kind == frame_kind::request && frame.op == wire::add_watch && count-- > 0)
            edit(bytes);
        return bytes;
    };
    proxy.edit(direction::to_server, change);
}

}  // namespace

TEST_CASE("persistent watch: a server that does not know it") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        one_shot once;
        co_await once.set(zk, one_shot::kind::children, path);
        persistent_watch known = co_await zk.add_watch(path, watch_mode::persistent_recursive);
        // The other one is set again: the server would respond to what it does not know before that.
        co_await zk.sync();
        // The server answers and closes the connection.
        edit_requests(proxy, 2, [](std::string& bytes) { bytes[11] = 77; });
        auto [ec, none] = co_await zk.add_watch(path + "/x", watch_mode::persistent, as_tuple());
        CHECK(ec == zk_errc::unimplemented);
        CHECK_FALSE(none.pending());
        // The next one is not asked.
        while (!ec || ec == zk_errc::unimplemented) {
            auto [ended, event] = co_await known.next(as_tuple());
            if ((ec = ended))
                break;
        }
        CHECK(ec == zk_errc::unimplemented);
        CHECK_FALSE(known.pending());
        CHECK(proxy.statistics().requests_of(wire::add_watch) == 2);
        co_await reach(zk, session_state::connected);
        observer().plant(at_server(path) + "/x");
        co_await once.changed.next();
        co_await reach(zk, session_state::connected);
        co_await settle(zk);
        CHECK(at_the_server() == 0);
        CHECK(zk.counters().watches == 0);
    });
}

TEST_CASE("persistent watch: a server that is too busy to set it again") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        persistent_watch w = co_await zk.add_watch(path, watch_mode::persistent);
        auto busy = [done = false](const frame_info& frame, std::string bytes) mutable {
            if (frame.kind != frame_kind::reply || frame.op != wire::add_watch || done)
                return bytes;
            done = true;
            bytes.resize(20);  // the length and the header
            bytes.replace(0, 4, {0, 0, 0, 16});
            bytes.replace(16, 4, "\xff\xff\xff\x81");  // throttled
            return bytes;
        };
        proxy.edit(direction::to_client, busy);
        proxy.cut();
        // Its other responses may show changes, until the connection is given up.
        watch_event event = co_await w.next();
        CHECK(event.type == unknown);
        CHECK(zk.counters().connects == 2);
        event = co_await w.next();
        CHECK(event.type == unknown);
        CHECK(zk.counters().connects == 3);
        co_await zk.set(path, "x");
        event = co_await w.next();
        CHECK(event.type == data_changed);
    });
}

TEST_CASE("persistent watch: a server that is too busy to remove it") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        persistent_watch w = co_await zk.add_watch(path, watch_mode::persistent_recursive);
        auto ignore = [](const frame_info& frame, std::string bytes) {
            if (frame.kind == frame_kind::request && frame.op == wire::remove_watches)
                bytes[11] = 3;  // exists, which changes nothing
            return bytes;
        };
        auto refuse = [](const frame_info& frame, std::string bytes) {
            if (frame.kind == frame_kind::reply && frame.op == wire::remove_watches) {
                bytes.resize(20);  // the length and the header
                bytes.replace(0, 4, {0, 0, 0, 16});
                bytes.replace(16, 4, "\xff\xff\xff\x81");  // throttled
            }
            return bytes;
        };
        proxy.edit(direction::to_server, ignore);
        proxy.edit(direction::to_client, refuse);
        w = persistent_watch();
        co_await eventually_async([&] { return zk.counters().connects == 2; });
        co_await reach(zk, session_state::connected);
        const std::uint64_t told = zk.counters().notifications;
        co_await zk.create(path + "/x", "1");
        co_await settle(zk);
        CHECK(zk.counters().notifications == told);
    });
}

TEST_CASE("persistent watch: no read overtakes the request that sets it again") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        persistent_watch w = co_await zk.add_watch(path, watch_mode::persistent);
        outcome<node_data> read = co_await changed_while_away(zk, proxy, path);
        watch_event event = co_await w.next();
        CHECK(event.type == unknown);
        CHECK_FALSE(read.done());
        CHECK_FALSE(co_await read.wait());
        CHECK(read.value().data == "new");
        CHECK(sent(proxy, {wire::get_data, wire::add_watch}) ==
              std::vector{wire::add_watch, wire::add_watch, wire::get_data});
    });
}

TEST_CASE("persistent watch: one that is refused serves no other") {
    with_proxy([](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
        for (watch_mode mode : both_modes) {
            persistent_watch known = co_await zk.add_watch(path, mode);
            // The server answers with an error, and has what it had.
            for (const std::string& where : {path, path + "/x"}) {
                CAPTURE(mode, where);
                edit_requests(proxy, 1, [](std::string& bytes) { bytes.back() = 9; });
                outcome<persistent_watch> adding;
                rule_id rule = proxy.arm(at_op(wire::add_watch), hold_request());
                zk.add_watch(where, watch_mode::persistent_recursive, adding.handler());
                // Sent behind it, in the belief that it would serve them.
                outcome<watched_stat> data;
                outcome<watched_children> children;
                zk.watch_exists(where, data.handler());
                if (where == path)
                    zk.watch_children(where, children.handler());
                co_await eventually_async([&] { return proxy.fired(rule) == 1; });
                proxy.release(rule);
                co_await adding.wait();
                CHECK(adding.error() == zk_errc::connection_loss);  // it says MARSHALLINGERROR
                co_await data.wait();
                CHECK_FALSE(data.error());
                if (where == path) {
                    co_await children.wait();
                    co_await zk.create(path + "/x");
                    co_await children.value().changed.next();
                    co_await zk.set(path, "x");
                } else {
                    co_await zk.erase(path + "/x");
                }
                co_await data.value().changed.next();
            }
            // It is not known whether the server still had it.
            co_await settle(zk);
            auto seen = co_await events_until_now(zk, known);
            CHECK(std::count(seen.begin(), seen.end(), "unknown " + path) == 1);
            co_await zk.set(path, "y");
            watch_event event = co_await known.next();
            CHECK(event.type == data_changed);
        }
        co_await settle(zk);
        CHECK(zk.counters().connects == 1);
        CHECK(at_the_server() == 0);
        CHECK(zk.counters().watches == 0);
    });
}

TEST_CASE("persistent watch: cut at every request, no change goes unnoticed and nothing is left") {
    for (bool delivered : {false, true}) {
        bool reached = true;
        for (std::uint64_t k = 1; reached; ++k) {
            CAPTURE(delivered, k);
            with_proxy([&](client& zk, fault_proxy& proxy, std::string path) -> awaitable<void> {
                admin hand = observer();
                proxy.reset_numbering();
                rule_id rule = proxy.arm(
                    at_request(k), delivered ? swallow_reply_and_cut() : drop_request_and_cut());
                auto retried = [](auto attempt) -> awaitable<void> {
                    for (;;) {
                        error_code ec = co_await attempt();
                        if (!ec)
                            co_return;
                        REQUIRE(is_recoverable(ec));
                    }
                };
                for (watch_mode mode : both_modes) {
                    one_shot data, children;
                    persistent_watch w;
                    auto add = [&]() -> awaitable<error_code> {
                        auto [ec, made] = co_await zk.add_watch(path, mode, as_tuple());
                        w = std::move(made);
                        co_return ec;
                    };
                    auto read = [&]() -> awaitable<error_code> {
                        auto [ec, made] = co_await zk.watch_data(path, as_tuple());
                        data.changed = std::move(made.changed);
                        co_return ec;
                    };
                    auto list = [&]() -> awaitable<error_code> {
                        auto [ec, made] = co_await zk.watch_children(path, as_tuple());
                        children.changed = std::move(made.changed);
                        co_return ec;
                    };
                    auto synced = [&]() -> awaitable<error_code> {
                        auto [ec] = co_await zk.sync(as_tuple());
                        co_return ec;
                    };
                    co_await retried(list);
                    co_await retried(add);
                    co_await retried(read);
                    // Of these changes it hears, or that it may have missed them.
                    hand.set(at_server(path), "x");
                    std::string child = path + (mode == watch_mode::persistent ? "/a" : "/b");
                    hand.plant(at_server(child));
                    co_await w.next();
                    co_await data.changed.next();
                    co_await children.changed.next();
                    co_await retried(list);
                    w = persistent_watch();
                    co_await retried(synced);
                    hand.plant(at_server(child) + "2");
                    co_await children.changed.next();
                    co_await retried(list);
                    children.changed = watch();
                    co_await retried(synced);
                }
                reached = proxy.fired(rule) > 0;
                proxy.disarm_all();
                co_await reach(zk, session_state::connected);
                co_await settle(zk);
                co_await settle(zk);
                CHECK(at_the_server() == 0);
                CHECK(zk.counters().watches == 0);
            });
        }
    }
}

}  // namespace corozk::testing::client_tests::persistent_watch_test
