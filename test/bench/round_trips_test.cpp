// SPDX-License-Identifier: Apache-2.0
#include "compare/round_trips.hpp"

#include <catch2/catch.hpp>

namespace corozk::testing::round_trips_test {

using namespace corozk::bench;

namespace {

constexpr double near_us = 300;

/// After one repetition: ours, and a peer of which no time can be taken.
std::vector<compared> entries_with(double microseconds) {
    std::vector<compared> entries(2);
    entries[0].implementation = "ours";
    entries[1].implementation = "peer";
    for (auto& e : entries)
        e.rows.resize(1);
    entries[0].rows[0].add("time_us", microseconds);
    return entries;
}

}  // namespace

TEST_CASE("round trips: they are unknown of whom no time was taken") {
    std::vector<comparison_part> parts(1);
    parts[0].key = "time_us";
    constexpr double added = std::chrono::microseconds(distance).count();
    auto near = times_of(parts, entries_with(near_us));
    auto far = times_of(parts, entries_with(near_us + 2 * added));
    auto entries = entries_with(near_us);
    add_round_trips(entries, near, far);
    CHECK(entries[0].rows[0].median("round_trips") == 2);
    CHECK_FALSE(entries[1].rows[0].has("round_trips"));
}

}  // namespace corozk::testing::round_trips_test
