// SPDX-License-Identifier: Apache-2.0
// The unit and the health check in examples/4_systemd.
#include "program_run.hpp"

#include <filesystem>
#include <sstream>

namespace corozk::testing::samples_test {

using namespace corozk;
using namespace corozk::testing;

namespace {

using words = std::vector<std::string>;

/// The arguments of the unit's program, with another path, identity and command.
words arguments_in_unit(const std::string& path, const std::string& host, const words& command) {
    std::ifstream unit(COROZK_EXAMPLES_DIR "/4_systemd/scheduler.service");
    const std::string key = "ExecStart=/usr/bin/corozk ";
    words result;
    for (std::string line; std::getline(unit, line);) {
        if (!line.starts_with(key))
            continue;
        std::istringstream in(line.substr(key.size()));
        for (std::string word; in >> word && word != "--";)
            result.push_back(word == "%N@%H" ? host : word == "/scheduler" ? path : word);
    }
    REQUIRE_FALSE(result.empty());
    result.emplace_back("--");
    result.insert(result.end(), command.begin(), command.end());
    return result;
}

/// @return the exit code
int health(const words& arguments, const std::string& hosts = the_server().hosts()) {
    process_options what;
    what.command = {COROZK_EXAMPLES_DIR "/4_systemd/scheduler-health"};
    what.command.insert(what.command.end(), arguments.begin(), arguments.end());
    std::string path = std::filesystem::path(COROZK_PROGRAM).parent_path();
    what.environment = {{"COROZK_HOSTS", hosts}, {"PATH", path + ":" + std::getenv("PATH")}};
    process_guard process(what);
    REQUIRE(process.wait(program_limit));
    return process.exit_status().value();
}

int exit_code(words command, const std::filesystem::path& output = {}) {
    process_options what;
    what.command = std::move(command);
    what.output = output;
    process_guard process(what);
    REQUIRE(process.wait(program_limit));
    return process.exit_status().value();
}

}  // namespace

TEST_CASE("examples: systemd understands every line of the unit") {
    if (exit_code({"sh", "-c", "command -v systemd-analyze"}) != 0) {
        WARN("not tested: systemd-analyze is not installed");
        return;
    }
    std::ifstream sample(COROZK_EXAMPLES_DIR "/4_systemd/scheduler.service");
    std::string text(std::istreambuf_iterator<char>(sample), {});
    // Its program has to exist.
    const std::string program = "ExecStart=/usr/bin/corozk ";
    const std::size_t at = text.find(program);
    REQUIRE(at != std::string::npos);
    text.replace(at, program.size(), "ExecStart=\"" COROZK_PROGRAM "\" ");
    temporary_directory folder;
    const std::filesystem::path unit = folder.path() / "scheduler.service";
    const std::filesystem::path output = folder.path() / "output";
    std::ofstream(unit) << text;
    // Otherwise it only tells of what it ignores.
    const int code =
        exit_code({"systemd-analyze", "verify", "--recursive-errors=no", "--man=no", unit}, output);
    std::ifstream said(output);
    INFO(std::string(std::istreambuf_iterator<char>(said), {}));
    CHECK(code == 0);
}

TEST_CASE("examples: the systemd unit's command, and the health check") {
    std::string path = fresh_path();
    const words command{"sh", "-c", "echo leads; exec sleep 1000"};
    CHECK(health({"ready", path, "one"}) == 1);
    program_run one(arguments_in_unit(path, "one", command));
    one.says("leads");
    CHECK(health({"live", path, "two"}) == 1);
    program_run two(arguments_in_unit(path, "two", command));
    eventually(
        [&] { return observer().children(path).size() == 2; }, program_limit, "both candidates");
    for (const char* host : {"one", "two"}) {
        CHECK(health({"live", path, host}) == 0);
        CHECK(health({"ready", path, host}) == 0);
    }
    CHECK(health({"leader", path, "one"}) == 0);
    CHECK(health({"leader", path, "two"}) == 1);
    one.process().signal(SIGTERM);
    CHECK(one.ended_by() == SIGTERM);
    two.says("leads");
    CHECK(health({"live", path, "one"}) == 1);
    CHECK(health({"leader", path, "two"}) == 0);
    CHECK(health({"ready", path, "one"}, "127.0.0.1:1") == 69);
    CHECK(health({"well", path}) == 64);
    two.process().signal(SIGTERM);
    CHECK(two.ended_by() == SIGTERM);
}

}  // namespace corozk::testing::samples_test
