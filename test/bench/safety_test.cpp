// SPDX-License-Identifier: Apache-2.0
// `corozk-bench safety`: what is guarded loses nothing, and the checker finds what is lost without.
#include "bench_run.hpp"

#include <boost/json/serialize.hpp>

#include <string>

namespace corozk::testing::safety_test {

using namespace corozk::testing;

namespace {

/// Whose lock is played.
struct player {
    std::string systems;
    std::string peers;
    std::string name;
    std::size_t rows;
    std::string package;  ///< what is said if it is not installed
};

}  // namespace

TEST_CASE("safety: holders that are stopped lose others' updates, unless a guard refuses theirs") {
    auto who = GENERATE(values<player>({{"corozk", "none", "ours", 5, ""},
                                        {"etcd", "none", "etcd", 4, "package etcd-server"},
                                        {"redis", "none", "redis", 3, "package redis-server"},
                                        {"none", "curator", "curator", 4, "Debian's package"}}));
    INFO(who.name);
    bench_run bench;
    int code = bench.run_small("safety",
                               {"--processes",
                                "4",
                                "--operations",
                                "10",
                                "--stops",
                                "2",
                                "--session-timeout",
                                "2000",
                                "--systems",
                                who.systems,
                                "--peers",
                                who.peers});
    INFO(bench.out());
    REQUIRE(code == 0);
    std::size_t rows = 0;
    for (const auto& value : bench.rows()) {
        const auto& row = value.as_object();
        INFO(boost::json::serialize(row));
        CHECK(figure(row, "pauses") == 2);
        CHECK(figure(row, "overlaps") > 0);
        CHECK(figure(row, "ghosts") == 0);
        std::string guard = row.at("guard").as_string().c_str();
        bool safe = guard != "none" && guard != "valid";
        rows += row.at("implementation") == boost::json::string(who.name) ? 1 : 0;
        CHECK((figure(row, "lost") == 0) == safe);
        // Redis's lock is not fair: the last one may be stopped when nobody else wants it any more.
        double least = who.name == "redis" ? 1 : 2;
        CHECK((figure(row, "refused") >= least) == safe);
    }
    // What is not installed is said to be missing.
    bool missing = !who.package.empty() && bench.out().find(who.package) != std::string::npos;
    CHECK(rows == (missing ? 0 : who.rows));
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
