// SPDX-License-Identifier: Apache-2.0
#include "recipe/nodes/rule.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <random>

namespace corozk::testing::membership_test {

using namespace corozk;
using namespace corozk::detail;

namespace {

member_info member(std::string name, std::int64_t czxid, std::string data = {}) {
    node_view node;
    node.stat.czxid = czxid;
    node.stat.ephemeral_owner = 1;
    node.data = std::move(data);
    return describe_member(name, node);
}

std::vector<std::string> names(const std::vector<member_info>& members) {
    std::vector<std::string> result;
    for (const member_info& m : members)
        result.push_back(m.name);
    return result;
}

using list = std::vector<std::string>;

}  // namespace

TEST_CASE("membership: what is a member") {
    corozk::stat s;
    CHECK(session_of(s) == 0);
    s.ephemeral_owner = 0x1000'0123'4567'0000;
    CHECK(session_of(s) == 0x1000'0123'4567'0000);
    s.ephemeral_owner = std::numeric_limits<std::int64_t>::min();
    CHECK(session_of(s) == 0);
    s.ephemeral_owner = static_cast<std::int64_t>(0xff00'0000'0000'03e8ULL);
    CHECK(session_of(s) == 0);
}

TEST_CASE("membership: differences") {
    member_map empty;
    member_map a;
    a["x"] = member("x", 1, "one");
    a["y"] = member("y", 2);
    CHECK(compute_change(empty, empty).empty());
    CHECK(compute_change(a, a).empty());
    membership_change c = compute_change(empty, a);
    CHECK(names(c.joined) == list{"x", "y"});
    CHECK(c.joined[0].data == "one");
    CHECK(c.joined[1].incarnation == 2);
    c = compute_change(a, empty);
    CHECK(names(c.left) == list{"x", "y"});
    member_map b;
    b["w"] = member("w", 9);
    b["x"] = member("x", 1, "two");  // other data
    b["y"] = member("y", 7);         // another incarnation
    c = compute_change(a, b);
    CHECK(names(c.joined) == list{"w", "y"});
    CHECK(names(c.left) == list{"y"});
    CHECK(names(c.updated) == list{"x"});
    CHECK(c.updated[0].data == "two");
}

TEST_CASE("membership: applying all differences in order gives the group") {
    std::mt19937 random(99);
    member_map told;
    std::map<std::string, std::int64_t> applied;
    std::int64_t zxid = 0;
    for (int i = 0; i < 1'000; ++i) {
        member_map current = told;
        for (int n = static_cast<int>(random() % 4); n > 0; --n) {
            std::string name(1, static_cast<char>('a' + random() % 6));
            ++zxid;
            switch (random() % 3) {
                case 0: current.erase(name); break;
                case 1: current[name] = member(name, zxid); break;
                default:
                    if (current.contains(name))
                        current[name].data = std::to_string(zxid);
            }
        }
        membership_change c = compute_change(told, current);
        for (const auto& m : c.left)
            CHECK(applied.erase(m.name) == 1);
        for (const auto& m : c.joined)
            CHECK(applied.emplace(m.name, m.incarnation).second);
        for (const auto& m : c.updated)
            CHECK(applied.at(m.name) == m.incarnation);
        told = current;
        REQUIRE(applied.size() == told.size());
        for (const auto& [name, s] : told)
            CHECK(applied.at(name) == s.incarnation);
    }
}

TEST_CASE("membership: names of nodes") {
    for (auto whose : {compatibility::native, compatibility::curator}) {
        CHECK(member_node(whose, "a") == "a");
        CHECK(member_of_node(whose, "a__party__") == "a__party__");
    }
    CHECK(member_node(compatibility::kazoo, "a") == "a__party__");
    CHECK(member_of_node(compatibility::kazoo, "a__party__") == "a");
    CHECK(member_of_node(compatibility::kazoo, "__party____party__") == "__party__");
    CHECK_FALSE(member_of_node(compatibility::kazoo, "a"));
    CHECK_FALSE(member_of_node(compatibility::kazoo, "__party__"));
    CHECK_FALSE(member_of_node(compatibility::kazoo, "a__party__b"));
}

}  // namespace corozk::testing::membership_test
