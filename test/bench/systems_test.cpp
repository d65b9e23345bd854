// SPDX-License-Identifier: Apache-2.0
// `corozk-bench systems`: whoever is installed takes part, and nobody holds a lock with another.
#include "bench_run.hpp"

#include <boost/json/serialize.hpp>

#include <set>

namespace corozk::testing::systems_test {

using namespace corozk::testing;

TEST_CASE("systems: every phase of those that are installed has its figures") {
    bench_run bench;
    int code = bench.run_small(
        "systems",
        {"--waiters", "2", "--operations", "10", "--kill", "1", "--session-timeout", "6000"});
    INFO(bench.out());
    REQUIRE(code == 0);
    std::set<std::string> seen;
    for (const auto& value : bench.rows()) {
        const auto& row = value.as_object();
        INFO(boost::json::serialize(row));
        CHECK(text(row, "failure").empty());
        std::string phase = text(row, "phase");
        seen.insert(text(row, "implementation") + " " + text(row, "recipe") + " " + phase);
        if (phase == "uncontended") {
            CHECK(figure(row, "write_us", "p50") > 0);
            CHECK(figure(row, "cycle_us", "p50") > 0);
        } else if (phase == "handover") {
            CHECK(figure(row, "handover_us", "p50") > 0);
        } else {
            CHECK(figure(row, "loss_s") > 0);
        }
    }
    for (const char* phase : {"uncontended", "handover", "loss"}) {
        INFO(phase);
        CHECK(seen.contains(std::string("ours lock ") + phase));
        CHECK(seen.contains(std::string("ours election ") + phase));
        CHECK((seen.contains(std::string("etcd election ") + phase) ||
               bench.out().find("package etcd-server") != std::string::npos));
        CHECK((seen.contains(std::string("redis lock ") + phase) ||
               bench.out().find("package redis-server") != std::string::npos));
    }
}

TEST_CASE("systems: where nobody takes part, nothing is measured") {
    bench_run bench;
    CHECK(bench.run_small("systems", {"--systems", "none"}) == 1);
    CHECK(bench.out().find("nothing was measured") != std::string::npos);
    int code = bench.run_small("systems",
                               {"--systems",
                                "etcd,redis",
                                "--recipe",
                                "lock",
                                "--waiters",
                                "1",
                                "--operations",
                                "10",
                                "--kill",
                                "0"});
    INFO(bench.out());
    auto says = [&bench](const char* words) {
        return bench.out().find(words) != std::string::npos;
    };
    bool somebody = !says("package etcd-server") || !says("package redis-server");
    CHECK(code == (somebody ? 0 : 1));
    CHECK(says("nothing was measured") == !somebody);
    CHECK(std::filesystem::exists(bench.path("rows.json")) == somebody);
}

TEST_CASE("systems: a server that is in PATH is installed") {
    bench_run bench;
    std::filesystem::path program = bench.path("redis-server");
    std::ofstream(program) << "#!/bin/sh\necho this is the one in PATH\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    process_options what;
    what.command = {
        "env", "PATH=" + program.parent_path().string() + ":/usr/bin:/bin", COROZK_BENCH};
    for (const char* word : {"systems", "--systems", "redis", "--warm-up", "100", "--hosts"})
        what.command.emplace_back(word);
    what.command.push_back(the_server().hosts());
    what.output = bench.path("out");
    process_guard process(what);
    REQUIRE(process.wait(std::chrono::minutes(1)));
    INFO(bench.out());
    CHECK(process.exit_status() == 1);
    CHECK(bench.out().find("this is the one in PATH") != std::string::npos);
}

TEST_CASE("systems: what makes no sense is refused") {
    bench_run bench;
    CHECK(bench.run({"systems", "--recipe", "semaphore"}) == 2);
    CHECK(bench.run({"systems", "--systems", "consul"}) == 2);
    CHECK(bench.out().find("corozk, etcd, redis") != std::string::npos);
}

}  // namespace corozk::testing::systems_test
