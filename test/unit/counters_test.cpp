// SPDX-License-Identifier: Apache-2.0
#include <corozk/duration_histogram.hpp>
#include <corozk/prometheus.hpp>

#include <catch2/catch.hpp>

#include <map>
#include <sstream>
#include <string>

namespace corozk::testing::counters_test {

using namespace corozk;
using namespace std::chrono_literals;

namespace {

/// The samples of a page: name with labels, to value. Fails on a line that is none.
std::map<std::string, double> samples_of(const std::string& page) {
    std::map<std::string, double> result;
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# HELP ") || line.starts_with("# TYPE "))
            continue;
        auto space = line.rfind(' ');
        REQUIRE(space != std::string::npos);
        CHECK(result.emplace(line.substr(0, space), std::stod(line.substr(space + 1))).second);
    }
    return result;
}

}  // namespace

TEST_CASE("duration_histogram: each duration is in the bucket whose bound is not less") {
    for (std::size_t i = 0; i + 1 < duration_histogram::bucket_count; ++i) {
        auto bound = duration_histogram::bound(i);
        duration_histogram at, above;
        at.add(bound);
        above.add(bound + 1ns);
        INFO(i);
        CHECK(at[i] == 1);
        CHECK(above[i + 1] == 1);
        CHECK(duration_histogram::bound(i + 1) > bound);
    }
    duration_histogram h;
    h.add(-5ns);
    h.add(0ns);
    h.add(std::chrono::nanoseconds::max());
    CHECK(h[0] == 2);
    CHECK(h[duration_histogram::bucket_count - 1] == 1);
    CHECK(h.count() == 3);
}

TEST_CASE("duration_histogram: a negative duration counts as zero") {
    duration_histogram h;
    h.add(std::chrono::nanoseconds(-5));
    CHECK(h[0] == 1);
    CHECK(h.sum() == std::chrono::nanoseconds(0));
}

TEST_CASE("duration_histogram: sum and quantiles") {
    duration_histogram h;
    CHECK(h.quantile(0.5) == 0ns);
    for (int i = 0; i < 98; ++i)
        h.add(10us);
    h.add(1s);
    h.add(2h);
    CHECK(h.sum() == 980us + 1s + 2h);
    CHECK(h.quantile(0.5) == 16us);
    CHECK(h.quantile(0.98) == 16us);
    CHECK(h.quantile(0.99) >= 1s);
    CHECK(h.quantile(0.99) < 2s);
    CHECK(h.quantile(1.0) == std::chrono::nanoseconds::max());
}

TEST_CASE("prometheus_text: counters, gauges and histograms of several clients") {
    client_counters counters;
    counters.requests = 12;
    counters.watches = 3;
    counters.request_times.add(20us);
    counters.request_times.add(1s);
    session_status status;
    status.state = session_state::connected;
    status.generation = 2;
    std::vector<prometheus_sample> all;
    all.emplace_back(
        counters, status, std::map<std::string, std::string>{{"client", "a\"b\\c\nd"}});
    all.emplace_back(client_counters(), session_status());
    std::string page = prometheus_text(all);
    auto samples = samples_of(page);
    std::string label = "client=\"a\\\"b\\\\c\\nd\"";
    CHECK(samples.at("corozk_requests_total{" + label + "}") == 12);
    CHECK(samples.at("corozk_requests_total") == 0);
    CHECK(samples.at("corozk_watches{" + label + "}") == 3);
    CHECK(samples.at("corozk_connected{" + label + "}") == 1);
    CHECK(samples.at("corozk_connected") == 0);
    CHECK(samples.at("corozk_sessions_total{" + label + "}") == 2);
    std::string name = "corozk_request_duration_seconds";
    CHECK(samples.at(name + "_bucket{" + label + ",le=\"1.6e-05\"}") == 0);
    CHECK(samples.at(name + "_bucket{" + label + ",le=\"3.2e-05\"}") == 1);
    CHECK(samples.at(name + "_bucket{" + label + ",le=\"+Inf\"}") == 2);
    CHECK(samples.at(name + "_count{" + label + "}") == 2);
    CHECK(samples.at(name + "_sum{" + label + "}") == Approx(1.00002));
    CHECK(samples.at(name + "_bucket{le=\"+Inf\"}") == 0);
    CHECK(page.find("# TYPE corozk_request_duration_seconds histogram\n") != std::string::npos);
    CHECK(page.find("# TYPE corozk_watches gauge\n") != std::string::npos);
    CHECK(page.back() == '\n');
}

TEST_CASE("prometheus_text: large numbers are exact; bad names of labels are left out") {
    client_counters counters;
    counters.requests = 9'007'199'254'740'991;  // 2^53 - 1
    prometheus_sample sample(
        counters, session_status(), {{"9x", "no"}, {"a-b", "no"}, {"ok", "y"}});
    std::string page = prometheus_text({&sample, 1});
    CHECK(page.find("corozk_requests_total{ok=\"y\"} 9007199254740991\n") != std::string::npos);
}

}  // namespace corozk::testing::counters_test
