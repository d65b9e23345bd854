// SPDX-License-Identifier: Apache-2.0
// `corozk-bench safety`: what is guarded loses nothing, and the checker finds what is lost without;
// where the lock tells of its loss in time, and that it does not depend on the wall clock.
#include "bench_run.hpp"
#include <corozk/testing/eventually.hpp>

#include <boost/json/serialize.hpp>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

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

/// Two of four processes have this fault. @return the exit code
int run_fault(bench_run& bench, const std::string& fault, const player& who) {
    return bench.run_small("safety",
                           {"--processes",
                            "4",
                            "--operations",
                            "10",
                            "--stops",
                            "2",
                            "--session-timeout",
                            "4000",
                            "--fault",
                            fault,
                            "--systems",
                            who.systems,
                            "--peers",
                            who.peers});
}

/// Whether the server, or the store, keeps late writes away.
bool is_checked(const std::string& guard) {
    return guard != "none" && guard != "valid";
}

/// What holds in each row of holders that are stopped, or cut off: they overlap, and lose what the
/// guard does not refuse.
/// @param safe whether the guard is to refuse all of it
void check_late_holders(const boost::json::object& row, const player& who, bool safe) {
    CHECK(text(row, "implementation") == who.name);
    CHECK(figure(row, "faults") == 2);
    CHECK(figure(row, "overlaps") > 0);
    CHECK(figure(row, "ghosts") == 0);
    CHECK((figure(row, "lost") == 0) == safe);
    // Redis's lock is not fair: the last one may be stopped when nobody else wants it any more.
    double least = who.name == "redis" ? 1 : 2;
    CHECK((figure(row, "refused") >= least) == safe);
}

/// What is not installed is said to be missing.
bool is_missing(const bench_run& bench, const player& who) {
    return !who.package.empty() && bench.out().find(who.package) != std::string::npos;
}

/// Whether all of it is as it must be; or nobody was there to be measured, and that is said.
bool went_well(int code, const bench_run& bench, const player& who) {
    if (!is_missing(bench, who))
        return code == 0;
    return code == 1 && bench.out().find("nothing was measured") != std::string::npos;
}

std::size_t rows_of(const bench_run& bench, const player& who) {
    return is_missing(bench, who) ? 0 : who.rows;
}

/// What libfaketime keeps for a process.
std::vector<std::filesystem::path> clock_files(pid_t pid) {
    std::string number = std::to_string(pid);
    return {"/dev/shm/faketime_shm_" + number, "/dev/shm/sem.faketime_sem_" + number};
}

}  // namespace

TEST_CASE("safety: holders that are stopped lose others' updates, unless a guard refuses theirs") {
    auto who = GENERATE(values<player>({{"corozk", "none", "ours", 5, ""},
                                        {"etcd", "none", "etcd", 4, "package etcd-server"},
                                        {"redis", "none", "redis", 3, "package redis-server"},
                                        {"none", "curator", "curator", 4, "Debian's package"}}));
    INFO(who.name);
    bench_run bench;
    int code = run_fault(bench, "pause", who);
    INFO(bench.out());
    REQUIRE(went_well(code, bench, who));
    auto rows = bench.rows();
    for (const auto& value : rows) {
        const auto& row = value.as_object();
        INFO(boost::json::serialize(row));
        CHECK(text(row, "fault") == "pause");
        check_late_holders(row, who, is_checked(text(row, "guard")));
    }
    CHECK(rows.size() == rows_of(bench, who));
}

TEST_CASE(
    "safety: who is cut off loses others' updates, unless it looks at corozk's lock after it") {
    auto who = GENERATE(values<player>({{"corozk", "none", "ours", 6, ""},
                                        {"etcd", "none", "etcd", 4, "package etcd-server"},
                                        {"redis", "none", "redis", 3, "package redis-server"}}));
    INFO(who.name);
    bench_run bench;
    int code = run_fault(bench, "partition", who);
    INFO(bench.out());
    REQUIRE(went_well(code, bench, who));
    auto rows = bench.rows();
    for (const auto& value : rows) {
        const auto& row = value.as_object();
        INFO(boost::json::serialize(row));
        bool ours = who.name == "ours";
        bool looks = text(row, "guard") == "valid" && text(row, "fault") == "partition";
        check_late_holders(row, who, is_checked(text(row, "guard")) || (ours && looks));
        // Redis's lock tells nothing.
        if (who.name != "etcd")
            CHECK(row.contains("notice_ms") == ours);
    }
    CHECK(rows.size() == rows_of(bench, who));
}

TEST_CASE("safety: a jump of the wall clock changes nothing, one of the monotonic clock costs it") {
    player who{"corozk", "none", "ours", 10, "package faketime"};
    bench_run bench;
    int code = run_fault(bench, "clock", who);
    INFO(bench.out());
    REQUIRE(went_well(code, bench, who));
    auto rows = bench.rows();
    for (const auto& value : rows) {
        const auto& row = value.as_object();
        INFO(boost::json::serialize(row));
        bool monotonic = text(row, "fault") == "monotonic clock";
        bool unguarded = text(row, "guard") == "none";
        CHECK(figure(row, "wall_jumps") == 2);
        CHECK(figure(row, "monotonic_jumps") == (monotonic ? 2 : 0));
        CHECK((figure(row, "overlaps") > 0) == monotonic);
        CHECK((figure(row, "lost") > 0) == (monotonic && unguarded));
        CHECK(figure(row, "refused") == (monotonic && !unguarded ? 2 : 0));
        CHECK(figure(row, "ghosts") == 0);
        CHECK(row.contains("notice_ms") == monotonic);
    }
    CHECK(rows.size() == rows_of(bench, who));
}

TEST_CASE("safety: processes that are killed leave nothing of their clocks behind") {
    if (!std::filesystem::exists("/usr/bin/faketime")) {
        WARN("not installed: Debian's package faketime");
        return;
    }
    temporary_directory folder;
    process_options what;
    what.command = {COROZK_BENCH, "safety", "--hosts", the_server().hosts()};
    for (const char* word : {"--fault", "clock", "--systems", "corozk", "--peers", "none"})
        what.command.emplace_back(word);
    what.output = folder.path() / "out";
    process_guard process(what);
    std::vector<std::filesystem::path> seen;
    eventually(
        [&] {
            REQUIRE(process.running());
            seen.clear();
            for (pid_t pid : children_of(process.pid())) {
                for (const auto& file : clock_files(pid)) {
                    if (std::filesystem::exists(file))
                        seen.push_back(file);
                }
            }
            return seen.size() == 6;  // three of them have a clock that moves
        },
        std::chrono::minutes(1));
    process.signal(SIGINT);
    REQUIRE(process.wait(std::chrono::minutes(1)));
    CHECK(process.exit_status() == 130);
    for (const auto& file : seen) {
        INFO(file);
        CHECK_FALSE(std::filesystem::exists(file));
    }
}

TEST_CASE("safety: where nobody takes part, nothing is measured") {
    bench_run bench;
    CHECK(bench.run_small("safety", {"--systems", "none", "--peers", "none"}) == 1);
    CHECK(bench.out().find("nothing was measured") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(bench.path("rows.json")));
}

TEST_CASE("safety: clocks are played with corozk's lock only, and that is said") {
    bench_run bench;
    CHECK(bench.run_small("safety", {"--fault", "clock", "--systems", "none", "--peers", "none"}) !=
          0);
    bool installed = bench.out().find("package faketime") == std::string::npos;
    if (installed)
        CHECK(bench.out().find("clock: left out, it is played with corozk's lock only") !=
              std::string::npos);
}

TEST_CASE("safety: without faults nothing is lost and nobody overlaps") {
    bench_run bench;
    int code =
        bench.run_small("safety", {"--processes", "3", "--operations", "10", "--stops", "0"});
    INFO(bench.out());
    REQUIRE(code == 0);
    for (const auto& value : bench.rows()) {
        const auto& row = value.as_object();
        INFO(boost::json::serialize(row));
        CHECK(text(row, "fault") == "none");
        CHECK(figure(row, "added") == 30);
        CHECK(figure(row, "lost") == 0);
        CHECK(figure(row, "overlaps") == 0);
    }
    CHECK(bench.run({"safety", "--processes", "3", "--stops", "3"}) == 2);
    CHECK(bench.out().find("--stops must be smaller than --processes") != std::string::npos);
    CHECK(bench.run({"safety", "--fault", "cut"}) == 2);
    CHECK(bench.out().find("'cut' is not pause, partition, clock, all or none") !=
          std::string::npos);
    CHECK(bench.run({"safety", "--fault", "none"}) == 2);
    CHECK(bench.out().find("--fault needs a name") != std::string::npos);
}

}  // namespace corozk::testing::safety_test
