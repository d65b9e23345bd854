// SPDX-License-Identifier: Apache-2.0
// `corozk-bench safety`: what is guarded loses nothing, and the checker finds what is lost without.
#include "bench_run.hpp"

#include <boost/json/serialize.hpp>

#include <map>

namespace corozk::testing::safety_test {

using namespace corozk::testing;

namespace {

double figure(const boost::json::object& row, const char* key) {
    return row.at(key).to_number<double>();
}

}  // namespace

TEST_CASE("safety: holders that are stopped lose others' updates, unless a guard refuses theirs") {
    bench_run bench;
    int code = bench.run_small(
        "safety",
        {"--processes", "4", "--operations", "10", "--stops", "2", "--session-timeout", "1000"});
    INFO(bench.out());
    REQUIRE(code == 0);
    auto rows = bench.rows();
    REQUIRE(rows.size() == 5);
    for (const auto& value : rows) {
        const auto& row = value.as_object();
        INFO(boost::json::serialize(row));
        CHECK(figure(row, "pauses") == 2);
        CHECK(figure(row, "overlaps") > 0);
        CHECK(figure(row, "ghosts") == 0);
        std::string guard = row.at("guard").as_string().c_str();
        bool safe = guard == "token" || guard == "commit";
        CHECK((figure(row, "lost") == 0) == safe);
        CHECK((figure(row, "refused") >= 2) == safe);
    }
}

TEST_CASE("safety: without pauses nothing is lost and nobody overlaps") {
    bench_run bench;
    int code =
        bench.run_small("safety", {"--processes", "3", "--operations", "10", "--stops", "0"});
    INFO(bench.out());
    REQUIRE(code == 0);
    for (const auto& value : bench.rows()) {
        const auto& row = value.as_object();
        INFO(boost::json::serialize(row));
        CHECK(figure(row, "added") == 30);
        CHECK(figure(row, "lost") == 0);
        CHECK(figure(row, "overlaps") == 0);
    }
    CHECK(bench.run({"safety", "--processes", "3", "--stops", "3"}) == 2);
    CHECK(bench.out().find("--stops must be smaller than --processes") != std::string::npos);
}

}  // namespace corozk::testing::safety_test
