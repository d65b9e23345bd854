// SPDX-License-Identifier: Apache-2.0
#include "bench_run.hpp"
#include "offering_shells.hpp"

namespace corozk::testing::completion_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

using names = std::set<std::string>;

names completed(std::vector<std::string> words) {
    bench_run bench;
    words.insert(words.begin(), "--complete");
    REQUIRE(bench.run(words) == 0);
    return words_of(bench.out());
}

/// What the program's own help lists.
names options_in_help(const std::string& command) {
    bench_run bench;
    REQUIRE(bench.run({command, "--help"}) == 0);
    std::istringstream lines(bench.out());
    names found{"--help"};
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("  --"))
            found.insert(line.substr(2, line.find(' ', 2) - 2));
    }
    return found;
}

names commands_in_help() {
    bench_run bench;
    REQUIRE(bench.run({"--help"}) == 0);
    std::istringstream lines(bench.out());
    names found;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("  ") && line[2] != ' ' && !line.starts_with("  corozk-bench"))
            found.insert(line.substr(2, line.find(' ', 2) - 2));
    }
    return found;
}

}  // namespace

TEST_CASE("corozk-bench --complete: commands, and the options of each") {
    names commands = commands_in_help();
    CHECK(commands.size() > 20);
    CHECK(completed({"help", ""}) == commands);
    for (const std::string& command : commands) {
        INFO(command);
        names options = options_in_help(command);
        CHECK(completed({command, ""}) == options);
        CHECK(completed({command, "--"}) == options);
    }
    commands.insert("help");
    CHECK(completed({""}) == commands);
    CHECK(completed({"he"}) == names{"help", "herd"});
    CHECK(completed({"-"}) == names{"--help", "--version"});
    CHECK(completed({"nothing", ""}).empty());
    CHECK(completed({"help", "herd", ""}).empty());
    CHECK(completed({"queue", "--quiet", "--con"}) == names{"--consumers"});
    CHECK(completed({"queue", "--wai"}).empty());
}

TEST_CASE("corozk-bench --complete: values") {
    CHECK(completed({"herd", "--servers", ""}) == names{"1", "3"});
    CHECK(completed({"herd", "--data", "d"}) == names{"disk"});
    CHECK(completed({"judge", "--hold", ""}) == names{"own"});
    CHECK(completed({"handover", "--implementation", ""}) == names{"ours", "textbook", "herd"});
    CHECK(completed({"handover", "--implementation", "ours,h"}) == names{"ours,herd"});
    CHECK(completed({"handover", "--recipe", "sh"}) == names{"shared_lock", "shared_lock_writers"});
    CHECK(completed({"compare", "--peers", ""}) ==
          names{"curator", "kazoo", "zookeeper", "all", "none"});
    CHECK(completed({"systems", "--systems", "e"}) == names{"etcd"});
    CHECK(completed({"safety", "--fault", "p"}) == names{"pause", "partition"});
    // A number, a file, and an option of another command.
    CHECK(completed({"herd", "--repeat", ""}).empty());
    CHECK(completed({"herd", "--json", ""}).empty());
    CHECK(completed({"queue", "--peers", "k"}).empty());
}

TEST_CASE("corozk-bench: completion in shells") {
    const offering_shells shells(COROZK_BENCH);
    CHECK(shells.bash("corozk-bench hand") == names{"handover"});
    CHECK(shells.bash("corozk-bench handover --wai") == names{"--waiters"});
    CHECK(shells.bash("corozk-bench herd --data ''") == names{"memory", "disk"});
    CHECK(shells.zsh("corozk-bench handov").count("handover") == 1);
    CHECK(shells.zsh("corozk-bench compare --peers kaz").count("kazoo") == 1);
    CHECK(shells.fish("corozk-bench hand") == names{"handover"});
    CHECK(shells.fish("corozk-bench compare --peers curator,k") == names{"curator,kazoo"});
    // By its path, as most call it.
    CHECK(shells.zsh(COROZK_BENCH " handov").count("handover") == 1);
    CHECK(shells.fish(COROZK_BENCH " hand") == names{"handover"});
    // A file.
    CHECK(shells.fish("corozk-bench herd --json " COROZK_COMPLETION_DIR "/corozk.f") ==
          names{COROZK_COMPLETION_DIR "/corozk.fish"});
}

}  // namespace corozk::testing::completion_test
