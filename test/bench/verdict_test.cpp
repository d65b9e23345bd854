// SPDX-License-Identifier: Apache-2.0
#include "safety/verdict.hpp"

#include <catch2/catch.hpp>

#include <initializer_list>
#include <string_view>
#include <utility>

namespace corozk::testing::verdict_test {

using namespace corozk::bench;

namespace {

/// Of three processes with ten updates each, all of which were added but for what is said.
result row_with(std::initializer_list<std::pair<std::string_view, double>> figures) {
    result row;
    row.set("processes", 3).set("updates", 10);
    double added = 30;
    for (auto [key, value] : figures) {
        if (key == "added")
            added = value;
        else
            row.add(key, value);
    }
    row.add("added", added);
    return row;
}

const protection unguarded{"corozk", "file", "none", false};
const protection guarded{"corozk", "file", "token", true};
const fault pause{"pause", "pause", fault_means::stop, true};

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("verdict: without a fault nothing is lost, nor overlaps, with a guard or without") {
    for (const auto* by : {&unguarded, &guarded}) {
        CHECK(problems_of(row_with({}), *by, no_fault, 0).empty());
        CHECK(problems_of(row_with({{"lost", 2}}), *by, no_fault, 0) ==
              texts{"2 updates lost, 0 written although refused"});
        CHECK(problems_of(row_with({{"overlaps", 1}}), *by, no_fault, 0) ==
              texts{"1 updates overlap without a fault"});
        CHECK(problems_of(row_with({{"added", 29}}), *by, no_fault, 0).size() == 1);
    }
}

TEST_CASE("verdict: under a fault only guarded updates are not lost, and others go on") {
    CHECK(problems_of(row_with({{"lost", 2}, {"overlaps", 2}}), unguarded, pause, 1).empty());
    CHECK(problems_of(row_with({{"overlaps", 2}, {"added", 28}}), guarded, pause, 1).empty());
    CHECK(problems_of(row_with({{"lost", 2}}), guarded, pause, 1).size() == 1);
    CHECK(problems_of(row_with({{"ghosts", 1}}), guarded, pause, 1) ==
          texts{"0 updates lost, 1 written although refused"});
    CHECK(problems_of(row_with({{"added", 20}}), guarded, pause, 1).empty());
    CHECK(problems_of(row_with({{"added", 0}, {"refused", 30}}), guarded, pause, 1) ==
          texts{"only 0 updates added, but processes without a fault alone make 20"});
}

TEST_CASE("verdict: a clock has to jump, and only the monotonic one makes a difference") {
    const fault wall{"wall clock", "clock", fault_means::wall_clock, false};
    CHECK(problems_of(row_with({{"wall_jumps", 1}}), unguarded, wall, 1).empty());
    CHECK(problems_of(row_with({}), unguarded, wall, 1) ==
          texts{"the clock has not jumped: this has shown nothing"});
    CHECK(problems_of(row_with({{"wall_jumps", 1}, {"refused", 1}}), unguarded, wall, 1) ==
          texts{"the wall clock's jump made a difference"});
}

}  // namespace corozk::testing::verdict_test
