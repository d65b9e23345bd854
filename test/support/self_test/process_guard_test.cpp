// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/process_guard.hpp"

#include "corozk/testing/eventually.hpp"
#include "corozk/testing/temporary_directory.hpp"

#include <catch2/catch.hpp>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace corozk::testing::process_guard_test {

using namespace corozk::testing;
using namespace std::chrono_literals;

namespace {

process_options sleeper() {
    process_options options;
    options.command = {"sleep", "1000"};
    return options;
}

bool exists(pid_t pid) {
    return ::kill(pid, 0) == 0 || errno != ESRCH;
}

/** The one-letter state of a process, from /proc. */
char state_of(pid_t pid) {
    std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};
    std::string text;
    std::getline(file, text);
    const auto end = text.rfind(')');
    return end == std::string::npos ? '?' : text.at(end + 2);
}

std::string contents(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream{path}.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("a process ends with its guard") {
    pid_t pid = 0;
    {
        process_guard guard{sleeper()};
        pid = guard.pid();
        CHECK(guard.running());
        CHECK_FALSE(guard.exit_status());
        CHECK(::getpgid(pid) == pid);
    }
    CHECK_FALSE(exists(pid));
}

TEST_CASE("a process's end, exit code and output are seen") {
    const temporary_directory directory;
    process_options options;
    options.command = {"sh", "-c", "echo $GREETING from $(pwd); exit 3"};
    options.environment = {{"GREETING", "hello"}};
    options.directory = directory.path();
    options.output = directory.path() / "out";
    process_guard guard{options};
    REQUIRE(guard.wait(10s));
    CHECK(guard.exit_status() == 3);
    CHECK(contents(options.output) == "hello from " + directory.path().native() + "\n");
}

TEST_CASE("a program that does not exist is reported") {
    process_options options;
    options.command = {"corozk-no-such-program"};
    CHECK_THROWS_AS(process_guard{options}, std::system_error);
    options.command = {};
    CHECK_THROWS_AS(process_guard{options}, std::system_error);
}

TEST_CASE("a process can be signalled, stopped, continued, terminated and killed") {
    process_guard guard{sleeper()};
    CHECK_FALSE(guard.wait(0ms));
    guard.stop();
    CHECK(state_of(guard.pid()) == 'T');
    guard.cont();
    eventually([&] { return state_of(guard.pid()) == 'S'; });
    SECTION("terminated") {
        guard.terminate();
        CHECK(guard.exit_status() == -SIGTERM);
    }
    SECTION("killed while stopped") {
        guard.stop();
        guard.kill();
        CHECK(guard.exit_status() == -SIGKILL);
    }
    SECTION("signalled") {
        guard.signal(SIGUSR1);
        CHECK(guard.wait(10s));
        CHECK(guard.exit_status() == -SIGUSR1);
    }
    CHECK_FALSE(guard.running());
    guard.stop();
    guard.kill();
    guard.signal(SIGTERM);
}

TEST_CASE("a process outlives the thread that started it") {
    std::unique_ptr<process_guard> guard;
    std::thread{[&] { guard = std::make_unique<process_guard>(sleeper()); }}.join();
    CHECK_FALSE(guard->wait(200ms));
}

TEST_CASE("many threads start processes") {
    std::vector<std::thread> threads;
    for (int count = 0; count < 8; ++count) {
        threads.emplace_back([] {
            process_options options;
            options.command = {"true"};
            process_guard guard{options};
            guard.wait(10s);
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
}

TEST_CASE("a process dies with a parent that is killed") {
    const temporary_directory directory;
    process_options options;
    options.command = {"/proc/self/exe", "--start-a-child-and-wait"};
    options.command[0] = std::filesystem::read_symlink("/proc/self/exe");
    options.output = directory.path() / "out";
    process_guard parent{options};
    eventually([&] { return contents(options.output).ends_with('\n'); });
    const auto child = static_cast<pid_t>(std::stol(contents(options.output)));
    REQUIRE(exists(child));
    parent.kill();
    eventually([&] { return !exists(child) || state_of(child) == 'Z'; });
}

TEST_CASE("a process reads its input from a file, and its errors go to one of their own") {
    temporary_directory folder;
    std::ofstream{folder.path() / "in"} << "question\n";
    process_options options;
    options.command = {"sh", "-c", "read -r line; echo \"$line\"; echo wrong >&2"};
    options.input = folder.path() / "in";
    options.output = folder.path() / "out";
    options.errors = folder.path() / "errors";
    process_guard guard{options};
    REQUIRE(guard.wait(10s));
    CHECK(contents(folder.path() / "out") == "question\n");
    CHECK(contents(folder.path() / "errors") == "wrong\n");

    options.errors.clear();
    process_guard together{options};
    REQUIRE(together.wait(10s));
    CHECK(contents(folder.path() / "out") == "question\nquestion\nwrong\n");
    options.input = folder.path() / "missing";
    CHECK_THROWS_AS(process_guard{options}, std::system_error);
}

}  // namespace corozk::testing::process_guard_test
