// SPDX-License-Identifier: Apache-2.0
// Every operation of every recipe refuses a path that cannot be, in the same words, and sends nothing.
// Other refusals say in the log what is wrong.
#include "client_fixture.hpp"
#include "every_operation.hpp"
#include <corozk.hpp>

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <vector>

namespace corozk::testing::client_tests::bad_paths_test {

using namespace corozk;
using namespace corozk::testing;
using namespace std::chrono_literals;

TEST_CASE("bad paths: refused by every operation of every recipe, and nothing is sent") {
    with_client(
        [](client& zk, std::string) -> awaitable<void> {
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
                semaphore_options leases;
                leases.compatibility = compatibility::curator;
                auto [refused, none] = co_await semaphore(zk, path, 2, leases).acquire(as_tuple());
                CHECK(refused == errc::bad_path);
                CHECK(zk.counters().requests == before);
            }
        },
        run_limit,
        steady_session_timeout);
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
        auto [candidates_ec, leader] = co_await candidates.get_leader(as_tuple());
        CHECK(candidates_ec == errc::closed);
        auto [latch_ec, term] = co_await latch.wait_leadership_for(1s, as_tuple());
        CHECK(latch_ec == errc::closed);
        auto [acknowledged] = co_await latch.acknowledge(as_tuple());
        CHECK(acknowledged == errc::closed);
        auto [several_ec, all] = co_await several.acquire(as_tuple());
        CHECK(several_ec == errc::closed);
        auto [line_ec, contenders] = co_await line.list_contenders(as_tuple());
        CHECK(line_ec == errc::closed);

        lock orphan(client(), "/orphan");
        CHECK(orphan.path().empty());
        auto [orphan_ec, orphaned] = co_await orphan.acquire(as_tuple());
        CHECK(orphan_ec == errc::closed);

        queue_claim nothing;
        auto [acknowledge_ec] = co_await nothing.acknowledge(as_tuple());
        CHECK(acknowledge_ec == errc::ownership_lost);
        auto [release_ec] = co_await nothing.release(as_tuple());
        CHECK(release_ec == errc::ownership_lost);
        auto [loss_ec, why] = co_await nothing.wait_lost(as_tuple());
        CHECK(loss_ec == errc::ownership_lost);

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
        auto [ready_ec, ready_state] = co_await ready.next(as_tuple());
        CHECK(ready_ec == errc::closed);
        configuration_parts none;
        auto [versioned_ec] = co_await versioned.publish(none, as_tuple());
        CHECK(versioned_ec == errc::closed);
        auto [node_ec, node_now] = co_await node.next(as_tuple());
        CHECK(node_ec == errc::closed);
        auto [children_ec, children_now] = co_await children.next(as_tuple());
        CHECK(children_ec == errc::closed);
        auto [tree_ec, tree_now] = co_await tree.next(as_tuple());
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

namespace {

/// Runs a coroutine with a connected client, and what it logs as a warning or worse.
template <class Body>
void with_log(Body body) {
    boost::asio::io_context context;
    std::string log;
    run(context, [&]() -> awaitable<void> {
        client_options options = quiet_options(the_hosts(), steady_session_timeout);
        options.logger = logger(log_level::warning, [&](log_level, std::string_view text) {
            log += std::string(text) + "\n";
        });
        client zk = co_await connected_client(options);
        co_await body(zk, fresh_path(), log);
        co_await zk.close();
    });
    run_to_idle(context);
}

}  // namespace

TEST_CASE("refusals: the log says what is wrong with an option or an argument, and where") {
    with_log([](client& zk, std::string path, std::string& log) -> awaitable<void> {
        auto before = zk.counters().requests;
        auto refused = [&](error_code got, error_code expected, std::string words) {
            INFO(log);
            CHECK(got == expected);
            CHECK_THAT(log, Catch::Contains(words));
            CHECK(zk.counters().requests == before);
            log.clear();
        };
        semaphore none(zk, path, 0);
        auto [none_ec, no_permit] = co_await none.acquire(1, as_tuple());
        refused(none_ec, errc::bad_option, "its limit is less than 1");
        semaphore three(zk, path, 3);
        auto [zero_ec, zero] = co_await three.acquire(0, as_tuple());
        refused(zero_ec, errc::bad_option, "semaphore " + path + ": less than one permit");
        auto [limit_ec] = co_await three.set_limit(0, as_tuple());
        refused(limit_ec, errc::bad_option, "the limit is less than 1");
        semaphore_options as_curator;
        as_curator.compatibility = compatibility::curator;
        semaphore leases(zk, path, 3, as_curator);
        auto [two_ec, two] = co_await leases.acquire(2, as_tuple());
        refused(two_ec, errc::not_supported, "one permit at a time");
        auto [stored_ec] = co_await leases.set_limit(2, as_tuple());
        refused(stored_ec, errc::not_supported, "this format stores no limit");

        double_barrier nobody(zk, path, 0);
        auto [size_ec] = co_await nobody.enter(as_tuple());
        refused(size_ec, errc::bad_option, "double barrier " + path + ": its size is 0");
        counter_options few_bits;
        few_bits.bits = 32;
        counter narrow(zk, path, few_bits);
        auto [counter_ec, value] = co_await narrow.add(1, as_tuple());
        refused(counter_ec, errc::bad_option, "counter " + path);
        queue_options as_kazoo;
        as_kazoo.compatibility = compatibility::kazoo;
        priority_queue ranked(zk, path, as_kazoo);
        auto [rank_ec] = co_await ranked.put("", 1000, as_tuple());
        refused(rank_ec, errc::bad_option, "queue " + path + ": priorities must be from 0 to 999");
        queue_options inside;
        inside.control_path = path + "/control";
        queue items(zk, path, inside);
        auto [inside_ec] = co_await items.put("", as_tuple());
        refused(inside_ec, errc::bad_path, path + "/control\" is inside the queue");
        multi_lock empty(zk);
        auto [empty_ec, nothing] = co_await empty.acquire(as_tuple());
        refused(empty_ec, errc::bad_option, "it has no parts");
        client other = co_await connected_client(quiet_options(the_hosts()));
        multi_lock mixed(zk);
        mixed.add(lock(other, path));
        auto [mixed_ec, mix] = co_await mixed.acquire(as_tuple());
        refused(mixed_ec, errc::bad_option, "\"" + path + "\" belongs to another client");
        co_await other.close();
        multi_lock below(zk);
        below.add(lock(zk.below("/view"), path));
        auto [below_ec, of_both] = co_await below.acquire(as_tuple());
        refused(below_ec, errc::bad_option, "another view of this one (client::below)");
        commit_coordinator vote(zk, path);
        std::vector<std::string> no_sites;
        auto [sites_ec] = co_await vote.begin(no_sites, "", as_tuple());
        refused(sites_ec, errc::bad_option, "there must be at least one site");
        membership group(zk, path);
        auto [name_ec] = co_await group.join("a/b", "", as_tuple());
        refused(
            name_ec, errc::bad_path, "membership " + path + ": \"a/b\" is not a valid node name");
        lock mutex(zk, path);
        auto [break_ec] = co_await mutex.break_contender(path + "/nobody", as_tuple());
        refused(break_ec, errc::bad_path, "not a contender of this recipe: " + path + "/nobody");
        auto [scheme_ec] = co_await zk.add_auth("", "", as_tuple());
        refused(scheme_ec, errc::bad_option, "the scheme must not be empty");

        // Text of the user's: a line nevertheless.
        lock forged(zk, "/a\ncorozk error: forged");
        refused(error_code(), error_code(), "lock: path \"/a?corozk error: forged\"");
    });
}

TEST_CASE("refusals: more permits than the limit says so, also when the limit is lowered") {
    with_log([](client& zk, std::string path, std::string& log) -> awaitable<void> {
        semaphore permits(zk, path, 2);
        auto [ec, held] = co_await permits.acquire(3, as_tuple());
        CHECK(ec == errc::bad_option);
        CHECK_THAT(log,
                   Catch::Contains(path + ": more permits are requested than the limit allows"));
        log.clear();

        auto [one_ec, one] = co_await permits.acquire(1, as_tuple());
        CHECK_FALSE(one_ec);
        std::optional<error_code> ended;
        permits.acquire(2, [&](error_code waiter_ec, ownership) { ended = waiter_ec; });
        co_await eventually_async([&] {
            admin seen = observer();
            return seen.children(at_server(path)).size() == 2;
        });
        co_await permits.set_limit(1);
        co_await eventually_async([&] { return ended.has_value(); });
        CHECK(*ended == errc::bad_option);
        CHECK_THAT(log,
                   Catch::Contains(path + ": more permits are requested than the limit allows"));
        co_await one.release();
    });
}

}  // namespace corozk::testing::client_tests::bad_paths_test
