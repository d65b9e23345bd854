// SPDX-License-Identifier: Apache-2.0
#include "recipe/barriers/double_barrier_room.hpp"
#include "recipe/barriers/double_barrier_rule.hpp"
#include "scripted_port.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <random>
#include <set>

namespace corozk::testing::double_barrier_test {

using namespace corozk;
using namespace corozk::detail;
using namespace std::chrono_literals;

namespace {

const std::string guid = "0123456789abcdef0123456789abcdef";

std::string name_of(const std::string& guid_of_it, std::int32_t sequence) {
    char text[16];
    std::snprintf(text, sizeof text, "%010d", sequence);
    return member_prefix(guid_of_it) + text;
}

/// Each of another participant.
std::string name_of(std::int32_t sequence) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%032x", static_cast<unsigned>(sequence));
    std::string swapped = std::string(digits + 16) + std::string(digits, 16);
    return name_of(swapped, sequence);
}

name_list listing(const std::vector<std::int32_t>& sequences) {
    name_list names;
    for (std::int32_t s : sequences)
        names.push_back(name_of(s));
    return names;
}

std::vector<std::int32_t> sequences(const std::vector<barrier_member>& members) {
    std::vector<std::int32_t> result;
    for (const barrier_member& m : members)
        result.push_back(m.sequence);
    return result;
}

round_record record(std::uint64_t round, std::uint32_t size, std::int32_t last) {
    return round_record{round, size, last};
}

}  // namespace

TEST_CASE("double barrier: the record") {
    CHECK(parse_round("") == round_record());
    round_record r = record(7, 3, -12);
    CHECK(format_round(r) == "round=7 size=3 last=-12");
    CHECK(parse_round(format_round(r)) == r);
    CHECK(parse_round("round=1 size=4294967295 last=-2147483648").has_value());
    CHECK(parse_round("round=9223372036854775807 size=3 last=1").has_value());
    for (const char* foreign : {"ready",
                                "10.0.0.1",
                                "round=",
                                "round=1",
                                "round=1 size=3",
                                "round=0 size=3 last=1",
                                "round=1 size=0 last=1",
                                "round=1 size=3 last=1 ",
                                "round=1 size=3 last=1x",
                                "round=-1 size=3 last=1",
                                " round=1 size=3 last=1",
                                "round=1 size=3 last=2147483648",
                                "round=1  size=3 last=1",
                                "round=9223372036854775808 size=3 last=1",
                                "round=18446744073709551615 size=3 last=1",
                                "round=99999999999999999999 size=3 last=1"}) {
        INFO(foreign);
        CHECK_FALSE(parse_round(foreign).has_value());
    }
}

TEST_CASE("double barrier: members' names") {
    CHECK(parse_member(name_of(0)) == 0);
    CHECK(parse_member(name_of(2147483647)) == 2147483647);
    CHECK(parse_member(name_of(-2147483647 - 1)) == -2147483647 - 1);
    CHECK(parse_member(name_of(-5)) == -5);
    for (const std::string& foreign :
         {std::string("ready"),
          std::string(),
          std::string("x"),
          std::string(300, 'x'),
          guid,
          member_prefix(guid),
          member_prefix(guid) + "12",
          member_prefix(guid) + "00000000001",
          member_prefix(guid) + "000000000x",
          member_prefix(guid) + "9999999999",
          member_prefix("g123456789abcdef0123456789abcdef") + "0000000001",
          "_c_" + guid + "-lock-0000000001",
          guid + "-lock--0000000001"}) {
        INFO(foreign);
        CHECK_FALSE(parse_member(foreign).has_value());
    }
}

TEST_CASE("double barrier: who is inside") {
    CHECK_FALSE(is_inside(round_record(), 0));
    CHECK(is_inside(record(1, 2, 5), 5));
    CHECK(is_inside(record(1, 2, 5), 4));
    CHECK_FALSE(is_inside(record(1, 2, 5), 6));
    CHECK_FALSE(is_inside(record(1, 2, 5), -1));  // in no order
    CHECK_FALSE(is_inside(record(1, 2, 2147483647), 2147483646));
}

TEST_CASE("double barrier: a round begins with the first N, and only when nobody is inside") {
    name_list names = listing({4, 2, 9});
    names.push_back("ready");
    barrier_view view = view_barrier(names, round_record());
    CHECK(view.inside.empty());
    CHECK(sequences(view.waiting) == std::vector<std::int32_t>{2, 4, 9});
    CHECK_FALSE(next_round(view, round_record(), 4));  // `ready` is no member
    CHECK(next_round(view, round_record(), 3) == record(1, 3, 9));
    CHECK(next_round(view, round_record(), 2) == record(1, 2, 4));

    // Somebody is still inside: the newcomers wait, however many they are.
    round_record old = record(6, 2, 2);
    view = view_barrier(names, old);
    CHECK(sequences(view.inside) == std::vector<std::int32_t>{2});
    CHECK_FALSE(next_round(view, old, 2));
    // All of that round are gone, but its record is there: it lets nobody in.
    old.last = 1;
    view = view_barrier(names, old);
    CHECK(view.inside.empty());
    CHECK(next_round(view, old, 3) == record(7, 3, 9));
    CHECK_FALSE(next_round(view, old, 4));
}

TEST_CASE("double barrier: who has come again counts once") {
    std::string mine = "00112233445566778899aabbccddeeff";
    std::string again = member_guid(mine, "ffeeddccbbaa99887766554433221100");
    CHECK(again == "00112233445566777766554433221100");
    name_list names;
    names.push_back(name_of(mine, 3));
    names.push_back(name_of(again, 5));
    barrier_view view = view_barrier(names, round_record());
    CHECK(sequences(view.waiting) == std::vector<std::int32_t>{5});
    CHECK(sequences(view.others) == std::vector<std::int32_t>{3});
    CHECK(view.has({names[0], 3}));
    CHECK(view.has({names[1], 5}));
    CHECK_FALSE(view.has({names[0], 5}));
    CHECK_FALSE(view.has({names[0], 4}));
    CHECK_FALSE(next_round(view, round_record(), 2));
    names.push_back(name_of(4));
    view = view_barrier(names, round_record());
    CHECK(sequences(view.waiting) == std::vector<std::int32_t>{4, 5});
    CHECK(next_round(view, round_record(), 2) == record(1, 2, 5));
    CHECK_FALSE(next_round(view, round_record(), 3));
    // The one of the session before is inside as long as the server keeps it.
    view = view_barrier(names, record(1, 2, 4));
    CHECK(sequences(view.inside) == std::vector<std::int32_t>{3, 4});
    CHECK(sequences(view.waiting) == std::vector<std::int32_t>{5});
    CHECK(view.others.empty());
}

TEST_CASE("double barrier: a node whose number is in no order does not count") {
    constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
    constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();
    constexpr std::int32_t first_spent = highest - (1 << 20);
    const std::vector<std::int32_t> refused{
        first_spent, highest - 1, highest, lowest, lowest + 1, -1};
    std::vector<std::int32_t> all = refused;
    all.insert(all.end(), {first_spent - 1, 0, 7});
    name_list names = listing(all);
    barrier_view view = view_barrier(names, round_record());
    CHECK(sequences(view.waiting) == std::vector<std::int32_t>{0, 7, first_spent - 1});
    CHECK(view.others.size() == refused.size());
    for (std::int32_t s : all)
        CHECK(view.has({name_of(s), s}));
    CHECK_FALSE(next_round(view, round_record(), 4));
    const auto round = next_round(view, round_record(), 3);
    CHECK(round == record(1, 3, first_spent - 1));
    view = view_barrier(names, *round);
    CHECK(sequences(view.inside) == std::vector<std::int32_t>{0, 7, first_spent - 1});
    CHECK(view.waiting.empty());
    // Nobody waits for them to leave.
    names = listing(refused);
    CHECK(plan_leave(view_barrier(names, *round), round->last, {}).done);
    // Nor does an earlier node of one that is refused count in its place.
    const std::string mine = "00112233445566778899aabbccddeeff";
    names = listing({3});
    names.push_back(name_of(mine, 5));
    names.push_back(name_of(member_guid(mine, "ffeeddccbbaa99887766554433221100"), first_spent));
    CHECK(sequences(view_barrier(names, round_record()).waiting) == std::vector<std::int32_t>{3});
}

TEST_CASE("double barrier: the page's rule for leaving") {
    round_record r = record(1, 4, 10);
    auto view = [&](const std::vector<std::int32_t>& s, name_list& keep) {
        keep = listing(s);
        return view_barrier(keep, r);
    };
    name_list keep;
    // 2. nobody left
    CHECK(plan_leave(view({}, keep), 10, {}).done);
    // later members do not count
    CHECK(plan_leave(view({11, 12}, keep), 10, {}).done);
    // 3. only me
    leave_plan plan = plan_leave(view({7, 11}, keep), 10, {7});
    CHECK_FALSE(plan.done);
    CHECK(plan.erase == std::set<std::int32_t>{7});
    CHECK_FALSE(plan.watch);
    // 4. I am the lowest: wait for the highest
    plan = plan_leave(view({1, 4, 7, 10, 12}, keep), 10, {1});
    CHECK(plan.erase.empty());
    CHECK(plan.watch == name_of(10));
    // 5. otherwise erase mine and wait for the lowest
    plan = plan_leave(view({1, 4, 7, 10}, keep), 10, {7});
    CHECK(plan.erase == std::set<std::int32_t>{7});
    CHECK(plan.watch == name_of(1));
    // and when mine is gone
    plan = plan_leave(view({1, 4, 10}, keep), 10, {});
    CHECK(plan.erase.empty());
    CHECK(plan.watch == name_of(1));
    // several of one client
    plan = plan_leave(view({1, 4, 7, 10}, keep), 10, {1, 7, 10});
    CHECK(plan.erase == std::set<std::int32_t>{7, 10});
    CHECK(plan.watch == name_of(4));
    plan = plan_leave(view({1, 4}, keep), 10, {1, 4});
    CHECK(plan.erase == std::set<std::int32_t>{1, 4});
    CHECK_FALSE(plan.watch);
}

TEST_CASE("double barrier: however members leave and die, everybody is released") {
    // Members of one round, each its own client, take turns in random order; some die. A member is
    // asleep until the node it watches is gone. Each deletion wakes one, except the lowest's.
    std::mt19937 random(4711);
    for (int run = 0; run < 500; ++run) {
        std::int32_t size = 1 + static_cast<std::int32_t>(random() % 8);
        round_record r = record(1, static_cast<std::uint32_t>(size), size - 1);
        std::set<std::int32_t> nodes;
        struct state {
            bool left = false;
            bool dead = false;
            std::optional<std::string> watch;
        };
        std::vector<state> members(static_cast<std::size_t>(size));
        for (std::int32_t i = 0; i < size; ++i)
            nodes.insert(i);
        for (int step = 0; step < 10'000; ++step) {
            std::vector<std::int32_t> awake;
            for (std::int32_t i = 0; i < size; ++i) {
                state& m = members[static_cast<std::size_t>(i)];
                if (m.left || m.dead)
                    continue;
                bool asleep = m.watch && std::any_of(nodes.begin(), nodes.end(), [&](auto n) {
                                  return name_of(n) == *m.watch;
                              });
                if (!asleep)
                    awake.push_back(i);
            }
            if (awake.empty())
                break;
            std::int32_t i = awake[random() % awake.size()];
            state& m = members[static_cast<std::size_t>(i)];
            if (random() % 10 == 0) {
                m.dead = true;
                nodes.erase(i);
                continue;
            }
            name_list names = listing({nodes.begin(), nodes.end()});
            barrier_view view = view_barrier(names, r);
            std::set<std::int32_t> own;
            if (nodes.contains(i))
                own.insert(i);
            leave_plan plan = plan_leave(view, r.last, own);
            m.watch.reset();
            if (plan.done) {
                m.left = true;
                CHECK(nodes.empty());
            }
            for (std::int32_t e : plan.erase)
                nodes.erase(e);
            if (plan.erase.empty() && plan.watch)
                m.watch = std::string(*plan.watch);
        }
        for (const state& m : members)
            CHECK((m.left || m.dead));
    }
}

TEST_CASE("double barrier: data of others is reported although the answer to the create was lost") {
    scripted_port p;
    recipe_core owner(p);
    auto room = std::make_shared<barrier_room>(p, "/b", 2);
    auto seat = std::make_shared<barrier_seat>(room->wake());
    std::optional<error_code> entered;
    handler_of<> handler = [&entered](error_code ec) { entered = ec; };
    seat->call = std::make_unique<waiting_call<>>(owner, std::move(handler), room->wake());
    room->add(seat, barrier_phase::entering);
    REQUIRE(p.asked().starts_with("create /b/"));
    const std::string node = p.front().path + "0000000003";
    p.answer(zk_errc::connection_loss);
    REQUIRE(p.asked() == "get /b");
    p.answer(zk_errc::connection_loss);
    auto read = [&p] {
        REQUIRE(p.asked() == "get /b");
        p.front().answer = "data of others";
        p.answer();
    };
    REQUIRE(p.asked() == "sync /b");
    p.answer();
    read();
    REQUIRE(p.asked() == "get_children /b");
    error_code reason = errc::foreign_data;
    auto comes_late = [&p, &node] {
        p.advance(20s);
        REQUIRE(p.asked() == "sync /b");
        p.answer();
        REQUIRE(p.asked() == "get_children /b");
        p.front().names.push_back(node.substr(3));
        p.answer();
        REQUIRE(p.asked() == "erase " + node);
        CHECK(p.front().generation == 1);
        p.answer();
    };
    SECTION("it was not applied so far: a node that comes late is deleted") {
        p.answer();
        CHECK(entered);
        comes_late();
    }
    SECTION("the listing is refused: looked for again later") {
        p.answer(zk_errc::no_auth);
        REQUIRE(p.asked() == "sync /b");
        p.answer();
        read();
        p.answer(zk_errc::no_auth);
        reason = zk_errc::no_auth;
        CHECK(entered);
        comes_late();
    }
    SECTION("it was applied: the node is deleted") {
        p.front().names.push_back(node.substr(3));
        p.answer();
        REQUIRE(p.asked() == "erase " + node);
        p.answer();
    }
    CHECK(p.asked().empty());
    CHECK(entered == reason);
    CHECK(seat->phase == barrier_phase::outside);
}

TEST_CASE("double barrier: members whose numbers are used up leave, and those who wait for them") {
    scripted_port p;
    recipe_core owner(p);
    auto room = std::make_shared<barrier_room>(p, "/b", 2);
    std::optional<error_code> entered;
    handler_of<> handler = [&entered](error_code ec) { entered = ec; };
    auto seat = std::make_shared<barrier_seat>(room->wake());
    seat->call = std::make_unique<waiting_call<>>(owner, std::move(handler), room->wake());
    room->add(seat, barrier_phase::entering);
    // All numbers of the parent are given.
    auto spent = [&p](std::int32_t children) {
        p.front().record.num_children = children;
        p.front().record.cversion = -2'097'154 - children;
        REQUIRE(sequence_spent(p.front().record));
        p.answer();
    };
    const bool refused = GENERATE(true, false);
    REQUIRE(p.asked().starts_with("create /b/"));
    const std::string node = p.front().path + (refused ? "2146435071" : "2146435070");
    REQUIRE(sequence_spent(2'146'435'071));
    REQUIRE_FALSE(sequence_spent(2'146'435'070));
    p.front().answer = node;
    p.answer();
    REQUIRE(p.asked() == "get /b");
    spent(2);
    if (!refused) {
        // The other one does not count, if no round has started between the two reads.
        for (std::int32_t version : {0, 1}) {
            REQUIRE(p.asked() == "get /b");
            p.front().record.version = version;
            spent(2);
            REQUIRE(p.asked() == "get_children /b");
            p.front().names.push_back(node.substr(3));
            p.front().names.push_back(member_prefix(guid) + "2146435071");
            p.front().record.version = 1;
            spent(2);
        }
    }
    REQUIRE(p.asked() == "erase " + node);
    p.answer();
    CHECK(entered == errc::sequence_exhausted);
    CHECK(seat->phase == barrier_phase::outside);
    SECTION("nobody is left: the parent is replaced, without its record") {
        REQUIRE(p.asked() == "get /b");
        p.front().answer = "round=1 size=2 last=2146435000";
        spent(0);
        REQUIRE(p.asked() == "get_acl /b");
        p.answer();
        REQUIRE(p.asked() == "commit ");
        p.answer();
    }
    SECTION("others may wait: they look when the record is written") {
        for (const char* read : {"get /b", "get_acl /b"}) {
            REQUIRE(p.asked() == read);
            p.answer(zk_errc::connection_loss);
        }
        REQUIRE(p.asked() == "get /b");
        spent(1);
        REQUIRE(p.asked() == "get_acl /b");
        p.answer();
        REQUIRE(p.asked() == "get /b");
        p.front().answer = "round=1 size=2 last=2146435000";
        p.front().record.version = 7;
        p.answer();
        REQUIRE(p.asked() == "set /b");
        CHECK(p.front().data == "round=1 size=2 last=2146435000");
        CHECK(p.front().version == 7);
        p.answer();
    }
    CHECK(p.asked().empty());
}

TEST_CASE("double barrier: one that does not want to wait learns of a round without it") {
    scripted_port p;
    recipe_core owner(p);
    auto room = std::make_shared<barrier_room>(p, "/b", 3);
    auto seat = std::make_shared<barrier_seat>(room->wake());
    std::optional<error_code> entered;
    handler_of<> handler = [&entered](error_code ec) { entered = ec; };
    seat->call = std::make_unique<waiting_call<>>(owner, std::move(handler), room->wake());
    seat->refuse_to_wait = true;
    room->add(seat, barrier_phase::entering);
    REQUIRE(p.asked().starts_with("create /b/"));
    const std::string node = p.front().path + "0000000003";
    p.front().answer = node;
    p.answer();
    auto read = [&](const char* record, std::int32_t children) {
        REQUIRE(p.asked() == "get /b");
        p.front().answer = record;
        p.front().record.num_children = children;
        p.answer();
    };
    auto list = [&](const std::string& other) {
        REQUIRE(p.asked() == "get_children /b");
        p.front().names.push_back(other);
        p.front().names.push_back(node.substr(3));
        p.front().record.num_children = 2;
        p.answer();
    };
    read("", 2);
    list(name_of(0));
    REQUIRE(p.asked() == "get " + node);
    p.answer();
    CHECK(p.asked().empty());
    CHECK_FALSE(entered);
    // A round has started, and all of its members but one have left.
    p.set_state(session_state::connected, 1);
    const char* record = "round=1 size=3 last=2";
    read(record, 2);
    read(record, 2);
    list(name_of(0));
    REQUIRE(p.asked() == "erase " + node);
    p.answer();
    CHECK(entered == make_error_code(errc::would_block));
    CHECK(p.asked().empty());
}

TEST_CASE("double barrier: at a server without a quorum a node stays, and is deleted later") {
    scripted_port p;
    recipe_core owner(p);
    auto room = std::make_shared<barrier_room>(p, "/b", 2);
    auto seat = std::make_shared<barrier_seat>(room->wake());
    std::optional<error_code> entered;
    handler_of<> handler = [&entered](error_code ec) { entered = ec; };
    seat->call = std::make_unique<waiting_call<>>(owner, std::move(handler), room->wake());
    p.set_state(session_state::read_only, 1);
    room->add(seat, barrier_phase::entering);
    CHECK(p.asked().empty());  // it waits
    p.set_state(session_state::connected, 1);
    REQUIRE(p.asked().starts_with("create /b/"));
    const std::string node = p.front().path + "0000000003";
    p.front().answer = node;
    p.answer();
    REQUIRE(p.asked() == "get /b");
    p.front().answer = "data of others";
    p.answer();
    REQUIRE(p.asked() == "erase " + node);
    p.set_state(session_state::read_only, 1);
    p.answer(zk_errc::not_read_only);
    CHECK(p.asked().empty());
    CHECK_FALSE(entered);
    p.set_state(session_state::connected, 1);
    REQUIRE(p.asked() == "erase " + node);
    p.answer();
    CHECK(entered == make_error_code(errc::foreign_data));
    CHECK(seat->phase == barrier_phase::outside);
    CHECK(p.asked().empty());
}

}  // namespace corozk::testing::double_barrier_test
