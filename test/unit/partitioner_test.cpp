// SPDX-License-Identifier: Apache-2.0
#include "recipe/partitioner/rule.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace corozk::testing::partitioner_test {

using namespace corozk::detail;

namespace {

using names = std::vector<std::string>;

names numbered(char first, std::size_t count) {
    names result;
    for (; count > 0; --count)
        result.emplace_back(1, first++);
    return result;
}

/// The number of a resource's member, or nobody; in base `nobody + 1`.
class owners_of {
public:
    owners_of(std::size_t resources, std::size_t nobody) : owners_(resources), nobody_(nobody) {}

    /// The next of all combinations; false after the last one.
    bool next() {
        for (std::size_t& owner : owners_) {
            if (++owner <= nobody_)
                return true;
            owner = 0;
        }
        return false;
    }

    std::size_t operator[](std::size_t resource) const { return owners_[resource]; }

    /// Within one of each other, among the first `members`, and all have an owner.
    bool balanced(std::size_t members) const {
        std::vector<std::size_t> counts(members);
        for (std::size_t owner : owners_) {
            if (owner >= members)
                return false;
            ++counts[owner];
        }
        auto [least, most] = std::minmax_element(counts.begin(), counts.end());
        return *most - *least <= 1;
    }

    /// Those which have another owner.
    std::size_t moves(const owners_of& other) const {
        std::size_t count = 0;
        for (std::size_t i = 0; i < owners_.size(); ++i)
            count += owners_[i] != other.owners_[i] ? 1 : 0;
        return count;
    }

    void set(std::size_t resource, std::size_t owner) { owners_[resource] = owner; }

private:
    std::vector<std::size_t> owners_;
    std::size_t nobody_;
};

assignment as_assignment(const owners_of& owners, const names& members, const names& resources) {
    assignment result;
    for (std::size_t i = 0; i < resources.size(); ++i) {
        if (owners[i] < members.size())
            result[members[owners[i]]].push_back(resources[i]);
    }
    return result;
}

}  // namespace

TEST_CASE("partitioner: decisions are balanced, whole, and move as little as possible") {
    // Before: each resource had one of four members, or none. Now: the first `there` of them.
    const names everybody = numbered('A', 4);
    std::size_t cases = 0;
    for (std::size_t count = 0; count <= 5; ++count) {
        const names resources = numbered('a', count);
        for (std::size_t there = 1; there <= everybody.size(); ++there) {
            names members = everybody;
            members.resize(there);
            std::vector<owners_of> balanced;
            owners_of any(count, there - 1);
            do {
                if (any.balanced(there))
                    balanced.push_back(any);
            } while (any.next());
            owners_of before(count, everybody.size());
            do {
                assignment decided =
                    assign(as_assignment(before, everybody, resources), members, resources);
                REQUIRE(decided.size() == there);
                owners_of now(count, everybody.size());
                std::size_t given = 0;
                for (std::size_t m = 0; m < there; ++m) {
                    const names& share = decided[members[m]];
                    REQUIRE(std::is_sorted(share.begin(), share.end()));
                    for (const std::string& resource : share) {
                        now.set(static_cast<std::size_t>(resource[0] - 'a'), m);
                        ++given;
                    }
                }
                REQUIRE(given == count);
                REQUIRE(now.balanced(there));
                // No balanced one moves less.
                std::size_t least = std::numeric_limits<std::size_t>::max();
                for (const owners_of& other : balanced)
                    least = std::min(least, other.moves(before));
                REQUIRE(now.moves(before) == least);
                // Nothing changes without a reason.
                REQUIRE(assign(decided, members, resources) == decided);
                ++cases;
            } while (before.next());
        }
    }
    CHECK(cases > 15'000);
}

TEST_CASE(
    "partitioner: who joins takes from others only what it is due, who leaves leaves the rest") {
    const names resources = numbered('a', 20);
    assignment now = assign({}, {"A"}, resources);
    CHECK(now["A"] == resources);
    now = assign(now, {"A", "B"}, resources);
    const assignment two = now;
    CHECK(now["A"].size() == 10);
    now = assign(now, {"A", "B", "C"}, resources);
    const std::size_t kept = now["A"].size() + now["B"].size();
    CHECK(kept == 14);
    for (const char* member : {"A", "B"})
        CHECK(std::includes(
            two.at(member).begin(), two.at(member).end(), now[member].begin(), now[member].end()));
    const assignment three = now;
    now = assign(now, {"B", "C"}, resources);
    for (const char* member : {"B", "C"})
        CHECK(std::includes(now[member].begin(),
                            now[member].end(),
                            three.at(member).begin(),
                            three.at(member).end()));
    CHECK(assign(now, {}, resources).empty());
    CHECK(assign({}, {"A", "B"}, {}).at("A").empty());
}

TEST_CASE("partitioner: resources that are not shared any more belong to nobody") {
    assignment before{{"A", {"a", "b", "x"}}, {"B", {"a", "c"}}};
    assignment now = assign(before, {"A", "B"}, {"a", "b", "c", "d"});
    CHECK(now == assignment{{"A", {"a", "b"}}, {"B", {"c", "d"}}});
}

TEST_CASE("partitioner: a decision is read as it was written") {
    const assignment decided{{"A", {"a", "b c"}}, {"B", {}}, {"C", {"d"}}};
    const std::string text = write_assignment(decided);
    CHECK(text == "corozk partition 1\nA\ta\tb c\nB\nC\td");
    CHECK(read_assignment(text) == decided);
    CHECK(read_assignment(write_assignment({})) == assignment());
    CHECK(read_assignment("") == assignment());
    CHECK_FALSE(read_assignment("192.0.2.1"));
    CHECK_FALSE(read_assignment("corozk partition 2\nA\ta"));
    const assignment once{{"A", {"a"}}, {"B", {"b"}}};
    CHECK(read_assignment("corozk partition 1\nA\ta\ta\nB\tb\ta") == once);
    CHECK(read_assignment("corozk partition 1\n\nA\t\ta\n\tc\nB\tb\nA\t") == once);
}

TEST_CASE("partitioner: what a member does about a resource") {
    claim_view v;
    CHECK(decide(v) == claim_step::wait);
    v.wanted = true;
    CHECK(decide(v) == claim_step::wait);  // without a session
    v.session = true;
    CHECK(decide(v) == claim_step::ask);
    v.asked = true;
    CHECK(decide(v) == claim_step::wait);
    v.wanted = false;
    CHECK(decide(v) == claim_step::withdraw);
    v.failed = true;
    CHECK(decide(v) == claim_step::wait);  // until its node is gone
    v.failed = false;
    v.delivered = true;
    CHECK(decide(v) == claim_step::revoke);
    v.session = false;
    CHECK(decide(v) == claim_step::revoke);
    v.revoked = true;
    CHECK(decide(v) == claim_step::wait);
    v.wanted = true;
    CHECK(decide(v) == claim_step::wait);  // it is given back, and granted anew
}

}  // namespace corozk::testing::partitioner_test
