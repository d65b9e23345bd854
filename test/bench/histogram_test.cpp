// SPDX-License-Identifier: Apache-2.0
#include "histogram.hpp"

#include "compare/peer_process.hpp"
#include "replay.hpp"
#include "result.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace corozk::testing::histogram_test {

using namespace corozk::bench;

namespace {

double exact(const std::vector<double>& sorted, double share) {
    auto rank =
        static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size()) - 1e-6));
    return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

TEST_CASE("a row leaves out what JSON knows no number for") {
    result row;
    row.add("good", 2).add("good", 3);
    row.add("none", std::nan(""));
    row.add("far", std::numeric_limits<double>::infinity()).add("far", 1);
    auto json = row.to_json();
    CHECK(json.at("good").to_number<double>() == 2.5);
    CHECK_FALSE(json.contains("none"));
    CHECK_FALSE(json.contains("far"));
    CHECK_FALSE(json.at("spread").as_object().contains("far"));
}

TEST_CASE("a row tells of what must not happen although it happened once only") {
    result row;
    for (double lost : {0, 0, 1})
        row.add("lost", lost, of_repetitions::most).add("added", 9 - lost, of_repetitions::least);
    auto json = row.to_json();
    CHECK(json.at("lost").to_number<double>() == 1);
    CHECK(json.at("added").to_number<double>() == 8);
    CHECK(row.median("lost") == 0);
}

TEST_CASE("a histogram knows each share of the values to three digits") {
    std::mt19937 random(7);
    std::lognormal_distribution<> values(6, 2);
    histogram h;
    std::vector<double> all;
    for (int i = 0; i < 20'000; ++i) {
        all.push_back(values(random));
        h.add(all.back());
    }
    std::sort(all.begin(), all.end());
    auto points = h.percentiles();
    REQUIRE(points.size() > 40);
    CHECK(points.front().value == Approx(all.front()).epsilon(0.001).margin(0.001));
    CHECK(points.back().share == 1);
    CHECK(points.back().count == all.size());
    CHECK(points.back().value == Approx(all.back()).epsilon(0.001));
    for (const auto& p : points) {
        INFO(p.share);
        CHECK(p.value == Approx(exact(all, p.share)).epsilon(0.001).margin(0.002));
    }
    for (double share : {0.0, 0.5, 0.99, 0.9999, 1.0}) {
        INFO(share);
        CHECK(h.quantile(share) == Approx(exact(all, share)).epsilon(0.001).margin(0.002));
    }
    CHECK(histogram().quantile(0.5) == 0);
    double sum = 0;
    for (double value : all)
        sum += value;
    CHECK(h.mean() == Approx(sum / 20'000).epsilon(0.001));
}

TEST_CASE("two histograms together are one of all values") {
    histogram a;
    histogram b;
    histogram both;
    for (int i = 1; i < 500; ++i) {
        a.add(i);
        b.add(i * 1'000.0);
        both.add(i);
        both.add(i * 1'000.0);
    }
    a.add(b);
    CHECK(a.count() == both.count());
    CHECK(a.max() == both.max());
    CHECK(to_hgrm(a.to_json()) == to_hgrm(both.to_json()));
}

TEST_CASE("percentiles are written as HdrHistogram's plotters read them") {
    histogram h;
    h.add(1);
    h.add(2);
    std::string text = to_hgrm(h.to_json());
    CHECK(text.starts_with("       Value     Percentile TotalCount 1/(1-Percentile)\n\n"));
    CHECK(text.find("       1.000 0.000000000000          1           1.00\n") !=
          std::string::npos);
    CHECK(text.find("       2.000 1.000000000000          2\n") != std::string::npos);
    CHECK(text.find("#[Max     =        2.000, Total count    =            2]\n") !=
          std::string::npos);
    CHECK(text.find("SubBuckets     =         2048]\n") != std::string::npos);
}

TEST_CASE("grants of several processes are put in order and checked") {
    // The first one has it until all wait.
    std::vector<grant_time> good{{0, 1'000, false}, {9'000, 9'500, false}, {3'000, 4'000, false}};
    auto times = replay(good, 0);
    REQUIRE(times.size() == 2);
    CHECK(times.max() == 5);  // 4 us -> 9 us
    CHECK(times.p50() == 2);  // 1 us -> 3 us
    std::vector<grant_time> two_owners{{0, 5'000, false}, {3'000, 9'000, false}};
    CHECK_THROWS_AS(replay(two_owners, 0), peer_failure);
    std::vector<grant_time> readers{{0, 1'000, false}, {2'000, 9'000, true}, {3'000, 4'000, true}};
    CHECK(replay(readers, 0).size() == 2);
    std::vector<grant_time> too_many{
        {0, 5'000, true}, {0, 6'000, true}, {3'000, 4'000, true}, {7'000, 8'000, true}};
    CHECK_THROWS_AS(replay(too_many, 2), peer_failure);
}

}  // namespace corozk::testing::histogram_test
