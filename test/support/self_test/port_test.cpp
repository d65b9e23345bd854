// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/port.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <utility>
#include <vector>

namespace corozk::testing::port_test {

using corozk::testing::port_reservation;

TEST_CASE("reserved ports are distinct") {
    std::set<std::uint16_t> seen;
    const std::vector<port_reservation> all(200);
    for (const auto& one : all) {
        CHECK(one.port() >= 1024);
        seen.insert(one.port());
    }
    CHECK(seen.size() == all.size());
}

TEST_CASE("a reservation can be moved") {
    port_reservation first;
    const auto port = first.port();
    port_reservation second{std::move(first)};
    CHECK(second.port() == port);
    second = port_reservation{};
    CHECK(second.port() != port);
}

}  // namespace corozk::testing::port_test
