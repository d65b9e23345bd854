// SPDX-License-Identifier: Apache-2.0
// Every operation of every recipe refuses a path that cannot be, in the same words, and sends nothing.
#include "client_fixture.hpp"
#include "every_operation.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace corozk::testing::client_tests::bad_paths_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;

TEST_CASE("bad paths: refused by every operation of every recipe, and nothing is sent") {
    with_client([](client& zk, std::string) -> awaitable<void> {
        for (std::string path : {"",
                                 "/",
                                 "relative",
                                 "/trailing/",
                                 "/a//b",
                                 "/a/../b",
                                 "/a/.",
                                 "/a\x01"
                                 "b"}) {
            CAPTURE(path);
            auto before = zk.counters().requests;
            every_operation all(zk, path);
            all.ask_all(path == "/");
            co_await eventually_async([&] { return all.complete(); });
            for (const auto& [operation, answer] : all.answers()) {
                INFO(operation);
                CHECK(answer == errc::bad_path);
            }
            CHECK(all.asked() > 50);
            CHECK(zk.counters().requests == before);
        }
    });
}

TEST_CASE("closed client: every operation of every recipe says that, and sends nothing") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        every_operation all(zk, path);
        co_await zk.close();
        auto before = zk.counters().requests;
        all.ask_all();
        co_await eventually_async([&] { return all.complete(); });
        for (const auto& [operation, answer] : all.answers()) {
            INFO(operation);
            // An argument that cannot be is refused first.
            CHECK(answer == (operation == "lock.break_contender" ? errc::bad_path : errc::closed));
        }
        CHECK(zk.counters().requests == before);
    });
}

TEST_CASE("default constructed recipes have no path, and their operations fail with `closed`") {
    with_client([](client&, std::string) -> awaitable<void> {
        lock l;
        shared_lock shared;
        priority_lock urgent;
        semaphore permits;
        election candidates;
        leader_latch latch;
        multi_lock several;
        contention_inspector line;
        CHECK(l.path().empty());
        CHECK(latch.path().empty());
        auto [l_ec, l_held] = co_await l.acquire_for(1s, as_tuple());
        CHECK(l_ec == errc::closed);
        auto [shared_ec, shared_held] = co_await shared.acquire_read(as_tuple());
        CHECK(shared_ec == errc::closed);
        auto [urgent_ec, urgent_held] = co_await urgent.acquire(1, as_tuple());
        CHECK(urgent_ec == errc::closed);
        auto [permits_ec, permits_held] = co_await permits.acquire(1, as_tuple());
        CHECK(permits_ec == errc::closed);
        auto [candidates_ec, leader] = co_await candidates.leader(as_tuple());
        CHECK(candidates_ec == errc::closed);
        auto [latch_ec, term] = co_await latch.wait_leadership_for(1s, as_tuple());
        CHECK(latch_ec == errc::closed);
        auto [acknowledged] = co_await latch.acknowledge(as_tuple());
        CHECK(acknowledged == errc::closed);
        auto [several_ec, all] = co_await several.acquire(as_tuple());
        CHECK(several_ec == errc::closed);
        auto [line_ec, contenders] = co_await line.contenders(as_tuple());
        CHECK(line_ec == errc::closed);

        queue q;
        priority_queue by_priority;
        delay_queue delayed;
        CHECK(q.path().empty());
        auto [put] = co_await q.put_for("x", 1s, as_tuple());
        CHECK(put == errc::closed);
        auto [taken, item] = co_await by_priority.take_for(1s, as_tuple());
        CHECK(taken == errc::closed);
        auto [consumed, claim] = co_await delayed.consume_for(1s, as_tuple());
        CHECK(consumed == errc::closed);

        counter number;
        configuration single;
        ready_configuration ready;
        versioned_configuration versioned;
        node_cache node;
        children_cache children;
        tree_cache tree;
        auto [number_ec, value] = co_await number.get(as_tuple());
        CHECK(number_ec == errc::closed);
        auto [single_ec] = co_await single.publish("x", as_tuple());
        CHECK(single_ec == errc::closed);
        auto [ready_ec, ready_state] = co_await ready.next(0, as_tuple());
        CHECK(ready_ec == errc::closed);
        configuration_parts none;
        auto [versioned_ec] = co_await versioned.publish(none, as_tuple());
        CHECK(versioned_ec == errc::closed);
        auto [node_ec, node_now] = co_await node.next(0, as_tuple());
        CHECK(node_ec == errc::closed);
        auto [children_ec, children_now] = co_await children.next(0, as_tuple());
        CHECK(children_ec == errc::closed);
        auto [tree_ec, tree_now] = co_await tree.next(0, as_tuple());
        CHECK(tree_ec == errc::closed);

        auto deadline = std::chrono::steady_clock::now() + 1s;
        barrier gate;
        double_barrier round;
        membership member;
        partitioner shards;
        name_service names;
        rendezvous meeting;
        persistent_node kept;
        commit_coordinator coordinator;
        commit_site site;
        const std::string& no_path = gate.path();
        CHECK(no_path.empty());
        auto [gate_ec] = co_await gate.wait_until(deadline, as_tuple());
        CHECK(gate_ec == errc::closed);
        auto [round_ec] = co_await round.enter_until(deadline, as_tuple());
        CHECK(round_ec == errc::closed);
        auto [member_ec] = co_await member.join_until("a", "", deadline, as_tuple());
        CHECK(member_ec == errc::closed);
        auto [shards_ec] = co_await shards.join_until("a", deadline, as_tuple());
        CHECK(shards_ec == errc::closed);
        auto [kept_ec] = co_await kept.keep_until("x", deadline, as_tuple());
        CHECK(kept_ec == errc::closed);
        auto [name_ec, entry] = co_await names.await_until("a", deadline, as_tuple());
        CHECK(name_ec == errc::closed);
        service_discovery services;
        service_cache instances;
        service_provider provider;
        auto [services_ec, found] = co_await services.resolve("web", as_tuple());
        CHECK(services_ec == errc::closed);
        auto [instances_ec, shown] = co_await instances.next(as_tuple());
        CHECK(instances_ec == errc::closed);
        CHECK(instances.current().revision == 0);
        auto [provider_ec, chosen] = co_await provider.choose_until(deadline, as_tuple());
        CHECK(provider_ec == errc::closed);
        provider.report_failure(chosen);
        auto [met, point] = co_await meeting.await_until(deadline, as_tuple());
        CHECK(met == errc::closed);
        auto [decided, outcome] = co_await coordinator.decide_until(deadline, as_tuple());
        CHECK(decided == errc::closed);
        auto [joined, transaction] = co_await site.join_until(deadline, as_tuple());
        CHECK(joined == errc::closed);
    });
}

TEST_CASE("bad paths: what the server refuses, and nothing else") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        co_await zk.ensure_path(path);
        admin hand = observer();
        for (std::string_view character :
             {"\x20",         "\x7e",         "\x01",         "\x1f",         "\x7f",
              "\xc2\x80",     "\xc2\x9f",     "\xc2\xa0",     "\xdf\xbf",     "\xe0\xa0\x80",
              "\xed\x9f\xbf", "\xed\xa0\x80", "\xee\x80\x80", "\xef\xa3\xbf", "\xef\xa4\x80",
              "\xef\xbf\xaf", "\xef\xbf\xb0", "\xef\xbf\xbd", "\xef\xbf\xbf", "\xf0\x9f\x98\x80",
              "\xff",         "\xc3",         "\xc0\xaf"}) {
            std::string node = path + "/a" + std::string(character) + "b";
            CAPTURE(node);
            bool server_refuses = false;
            try {
                hand.plant(at_server(node));
            } catch (const std::exception&) {
                server_refuses = true;
            }
            auto [ec, data] = co_await zk.get(node, as_tuple());
            CHECK((ec == errc::bad_path) == server_refuses);
        }
    });
}

TEST_CASE("bad paths: a queue's folder for control, too") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        queue_options options;
        options.control_path = "relative";
        queue q(zk, path + "/q", options);
        auto [ec, none] = co_await q.take(as_tuple());
        CHECK(ec == errc::bad_path);
    });
}

TEST_CASE("bad paths: a transaction's that goes with something that is held, which stays held") {
    with_client([](client& zk, std::string path) -> awaitable<void> {
        queue q(zk, path + "/q");
        co_await q.put("item");
        queue_claim claim = co_await q.consume();
        lock l(zk, path + "/lock");
        ownership held = co_await l.acquire();
        for (const char* bad : {"relative", "/a/.", "/a/"}) {
            CAPTURE(bad);
            transaction steps;
            steps.create(path + "/effect", "").erase(bad);
            auto [acknowledged] = co_await claim.acknowledge(steps, as_tuple());
            CHECK(acknowledged == errc::bad_path);
            CHECK(claim.valid());
            auto [committed, results] = co_await held.commit(steps, as_tuple());
            CHECK(committed == errc::bad_path);
            CHECK(held.valid());
        }
        auto effect = co_await zk.exists(path + "/effect");
        CHECK_FALSE(effect.has_value());
        co_await claim.acknowledge();
        co_await held.release();
    });
}

}  // namespace corozk::testing::client_tests::bad_paths_test
