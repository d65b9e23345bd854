// SPDX-License-Identifier: Apache-2.0
// What counts as growth of a process.
#include "growth.hpp"

#include <catch2/catch.hpp>

#include <stdexcept>
#include <vector>

namespace corozk::testing::growth_test {

using namespace corozk::bench;

namespace {

std::vector<occupancy> steady(std::size_t samples) {
    return std::vector<occupancy>(samples, {1'000'000, 20'000'000, 110, 2});
}

}  // namespace

TEST_CASE("growth: a process that stays as it is does not grow") {
    CHECK(growth(steady(8)).empty());
    CHECK(growth(steady(24)).empty());
    CHECK_THROWS_AS(growth(steady(7)), std::logic_error);
}

TEST_CASE("growth: the least of two is that of each figure") {
    occupancy both = least_of({1, 20, 3, 40}, {10, 2, 30, 4});
    CHECK(both.heap_bytes == 1);
    CHECK(both.resident_bytes == 2);
    CHECK(both.descriptors == 3);
    CHECK(both.threads == 4);
}

TEST_CASE("growth: the first quarter does not count, and neither does a wave") {
    auto samples = steady(24);
    for (std::size_t i = 0; i < 6; ++i)
        samples[i] = {1, 1, 1, 1};
    CHECK(growth(samples).empty());
    for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i].heap_bytes = i % 3 == 0 ? 1'500'000 : 1'000'000;
    CHECK(growth(samples).empty());
    // Less than one per cent.
    for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i].heap_bytes = 1'000'000 + 500 * static_cast<double>(i);
    CHECK(growth(samples).empty());
}

TEST_CASE("growth: a leak is seen, however slow, and which it is") {
    auto samples = steady(24);
    for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i].heap_bytes = 1'000'000 + 2'000 * static_cast<double>(i);
    CHECK(growth(samples) == "heap from 1,022 KB to 1,036 KB");
    for (std::size_t i = 18; i < samples.size(); ++i)
        samples[i].descriptors = 111;
    CHECK(growth(samples) == "heap from 1,022 KB to 1,036 KB, descriptors from 110 to 111");
    samples[20].descriptors = 110;
    CHECK(growth(samples) == "heap from 1,022 KB to 1,036 KB");
    samples = steady(8);
    samples[6].threads = samples[7].threads = 3;
    samples[6].resident_bytes = samples[7].resident_bytes = 30'000'000;
    CHECK(growth(samples) == "resident memory from 20.0 MB to 30.0 MB, threads from 2 to 3");
}

}  // namespace corozk::testing::growth_test
