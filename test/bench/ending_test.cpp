// SPDX-License-Identifier: Apache-2.0
// However `corozk-bench` ends, it says so, and leaves nothing on a server that is not its own.
#include "bench_run.hpp"
#include <corozk/testing/eventually.hpp>

#include <algorithm>
#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corozk::testing::ending_test {

using namespace corozk::testing;

namespace {

/// Looks for folders of the program's on the server that the tests share.
class folder_watch {
public:
    /// How many have come since this object was made, and are there now.
    std::size_t count() const {
        auto now = folders();
        return static_cast<std::size_t>(
            std::count_if(now.begin(), now.end(), [this](const std::string& name) {
                return std::find(before_.begin(), before_.end(), name) == before_.end();
            }));
    }

private:
    static std::vector<std::string> folders() {
        std::vector<std::string> found;
        for (const auto& name : observer().children("/")) {
            if (name.starts_with("corozk-bench-"))
                found.push_back(name);
        }
        return found;
    }

    std::vector<std::string> before_ = folders();
};

/// A few cycles of an uncontended lock on that server, behind what a shell says first.
class small_run {
public:
    /// @param script in which "$@" is the program
    explicit small_run(const std::string& script, const std::vector<std::string>& more = {}) {
        process_options what;
        what.command = {"bash", "-c", "set -o pipefail; " + script, "bash", COROZK_BENCH};
        for (const auto& word :
             {"uncontended", "--operations", "20", "--repeat", "1", "--warm-up", "100"})
            what.command.emplace_back(word);
        what.command.insert(what.command.end(), {"--hosts", the_server().hosts()});
        what.command.insert(what.command.end(), more.begin(), more.end());
        what.output = folder_.path() / "out";
        process_.emplace(what);
    }

    bool says(const std::string& text) const { return out().find(text) != std::string::npos; }
    std::string out() const { return content_of(folder_.path() / "out"); }

    void wait_until_it_says(const std::string& text) {
        eventually([&] { return says(text) || !process_->running(); }, std::chrono::minutes(1));
        INFO(out());
        REQUIRE(says(text));
    }

    void signal(int number) { process_->signal(number); }

    int end() {
        REQUIRE(process_->wait(std::chrono::minutes(2)));
        return process_->exit_status().value();
    }

private:
    temporary_directory folder_;
    std::optional<process_guard> process_;
};

const std::string warming = "warming the server up";

}  // namespace

TEST_CASE("ending: a signal while the server is warmed up leaves nothing there") {
    int number = GENERATE(SIGINT, SIGTERM, SIGHUP, SIGQUIT);
    INFO(number);
    bench_run files;
    folder_watch left_over;
    std::ofstream(files.path("rows.json")) << "[]";
    small_run run("exec \"$@\"",
                  {"--warm-up",
                   "1000000",
                   "--report",
                   files.path("report"),
                   "--json",
                   files.path("rows.json")});
    run.wait_until_it_says(warming);
    CHECK(left_over.count() == 1);
    run.signal(number);
    CHECK(run.end() == 130);
    INFO(run.out());
    CHECK(left_over.count() == 0);
    CHECK_FALSE(std::filesystem::exists(files.path("report")));
    CHECK(content_of(files.path("rows.json")) == "[]");
}

TEST_CASE("ending: nohup is heeded") {
    folder_watch left_over;
    small_run run("trap '' HUP; exec \"$@\"", {"--warm-up", "20000"});
    run.wait_until_it_says(warming);
    run.signal(SIGHUP);
    INFO(run.out());
    CHECK(run.end() == 0);
    CHECK(left_over.count() == 0);
}

TEST_CASE("ending: what cannot be written is said, and leaves nothing on the server") {
    bench_run files;
    folder_watch left_over;
    SECTION("nobody reads its output") {
        small_run run("\"$@\" | true");
        CHECK(run.end() == 1);
        INFO(run.out());
        CHECK(run.says("corozk-bench: cannot write to standard output: Broken pipe"));
    }
    SECTION("its output is full; the file is written") {
        small_run run("\"$@\" > /dev/full", {"--json", files.path("rows.json")});
        CHECK(run.end() == 1);
        INFO(run.out());
        CHECK(run.says("corozk-bench: cannot write to standard output: No space left on device"));
        CHECK_FALSE(files.rows().empty());
    }
    SECTION("nobody reads what it says meanwhile") {
        small_run run("\"$@\" 2>&1 > /dev/null | true");
        INFO(run.out());
        CHECK(run.end() == 0);
    }
    SECTION("the file is full; the table is shown") {
        small_run run("exec \"$@\"", {"--json", "/dev/full"});
        CHECK(run.end() == 1);
        INFO(run.out());
        CHECK(run.says("corozk-bench: cannot write /dev/full: No space left on device"));
        CHECK(run.says("ZooKeeper "));
    }
    SECTION("there is something else where the report's rows are to be") {
        std::filesystem::create_directories(files.path("report") + "/rows.json");
        small_run run("exec \"$@\"", {"--report", files.path("report")});
        CHECK(run.end() == 1);
        INFO(run.out());
        CHECK(run.says("corozk-bench: cannot write " + files.path("report") + "/rows.json"));
    }
    SECTION("there can be no report: nothing is measured") {
        small_run run("exec \"$@\"", {"--report", "/proc/nope"});
        CHECK(run.end() == 2);
        INFO(run.out());
        CHECK(run.says("--report: cannot make /proc/nope: No such file or directory"));
        CHECK_FALSE(run.says(warming));
    }
    CHECK(left_over.count() == 0);
}

TEST_CASE("ending: what was measured before a failure is in the file") {
    bench_run files;
    process_options what;
    what.command = {"bash",
                    "-c",
                    "ulimit -n 100; exec \"$0\" \"$@\"",
                    COROZK_BENCH,
                    "handover",
                    "--hosts",
                    the_server().hosts(),
                    "--waiters",
                    "10,300",
                    "--sessions",
                    "300",
                    "--recipe",
                    "lock",
                    "--implementation",
                    "ours",
                    "--repeat",
                    "1",
                    "--warm-up",
                    "100",
                    "--json",
                    files.path("rows.json")};
    what.output = files.path("out");
    process_guard process(what);
    REQUIRE(process.wait(std::chrono::minutes(2)));
    CHECK(process.exit_status() == 1);
    CHECK(files.out().find("\"waiters\":10") != std::string::npos);
    auto rows = files.rows();
    REQUIRE(rows.size() == 1);
    CHECK(figure(rows[0].as_object(), "waiters") == 10);
}

namespace {

/// Interrupts a command once it has said these words. @return its output
std::string interrupted(bench_run& files, process_options what, const char* words) {
    what.output = files.path("out");
    process_guard process(what);
    auto says = [&](const char* text) { return files.out().find(text) != std::string::npos; };
    eventually([&] { return says(words) || !process.running(); }, std::chrono::minutes(2));
    process.signal(SIGINT);
    REQUIRE(process.wait(std::chrono::minutes(1)));
    INFO(files.out());
    CHECK(process.exit_status() == 130);
    CHECK(says("not complete; what was measured"));
    return files.out();
}

}  // namespace

TEST_CASE("ending: what was measured before an interruption is shown") {
    bench_run files;
    process_options what;
    what.command = {COROZK_BENCH, "handover", "--hosts", the_server().hosts()};
    for (const char* word : {"--waiters", "2,20000", "--sessions", "2", "--recipe", "lock"})
        what.command.emplace_back(word);
    for (const char* word : {"--implementation", "ours", "--repeat", "1", "--warm-up", "100"})
        what.command.emplace_back(word);
    const std::string out = interrupted(files, std::move(what), "20,000 waiters: ");
    auto says = [&](const char* words) { return out.find(words) != std::string::npos; };
    INFO(out);
    CHECK(says("\"waiters\":2,"));
}

TEST_CASE("ending: of systems, too, what was measured before an interruption is shown") {
    bench_run files;
    process_options what;
    what.command = {COROZK_BENCH, "systems", "--hosts", the_server().hosts()};
    for (const char* word : {"--systems", "corozk", "--recipe", "lock", "--waiters", "1"})
        what.command.emplace_back(word);
    for (const char* word : {"--operations", "10", "--kill", "1000", "--warm-up", "100"})
        what.command.emplace_back(word);
    const std::string out = interrupted(files, std::move(what), "killing holders");
    auto says = [&](const char* words) { return out.find(words) != std::string::npos; };
    INFO(out);
    CHECK(says("\"phase\":\"uncontended\""));
    CHECK(says("\"phase\":\"handover\""));
    // It was not measured, and has not failed.
    CHECK_FALSE(says("\"phase\":\"loss\""));
}

TEST_CASE("ending: a part of endure without a hand-over has no time of one") {
    server mortal(client_server_options());
    bench_run files;
    process_options what;
    what.command = {COROZK_BENCH, "endure", "--hosts", mortal.hosts()};
    for (const char* word : {"--waiters", "2", "--sessions", "1", "--duration", "20"})
        what.command.emplace_back(word);
    for (const char* word : {"--session-timeout", "4000", "--warm-up", "100", "--json"})
        what.command.emplace_back(word);
    what.command.push_back(files.path("rows.json"));
    what.output = files.path("out");
    process_guard process(what);
    auto says = [&](const char* words) { return files.out().find(words) != std::string::npos; };
    eventually([&] { return says("passing a lock on") || !process.running(); },
               std::chrono::minutes(2));
    mortal.kill();
    REQUIRE(process.wait(std::chrono::minutes(2)));
    INFO(files.out());
    CHECK(process.exit_status() == 1);
    std::size_t without = 0;
    for (const auto& value : files.rows()) {
        const auto& row = value.as_object();
        const bool none = figure(row, "handovers_per_s") == 0;
        without += none ? 1 : 0;
        CHECK((none == !row.contains("requests_per_handover")));
        CHECK((!none || !row.contains("handover_us")));
    }
    CHECK(without > 0);
}

TEST_CASE("ending: what is shown at once fails if it cannot be shown") {
    auto run = [](const std::string& arguments) {
        process_options what;
        what.command = {"bash", "-c", "\"$0\" " + arguments + " > /dev/full", COROZK_BENCH};
        process_guard process(what);
        REQUIRE(process.wait(std::chrono::minutes(1)));
        return process.exit_status().value();
    };
    CHECK(run("--help") == 1);
    CHECK(run("help judge") == 1);
    CHECK(run("judge --help") == 1);
    CHECK(run("--version") == 1);
    CHECK(run("watch --interval 1 --hosts " + the_server().hosts()) == 2);
}

}  // namespace corozk::testing::ending_test
