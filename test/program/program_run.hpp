// SPDX-License-Identifier: Apache-2.0
// The program `corozk`, run as a person would, against the server that the tests share.
#pragma once

#include "client_fixture.hpp"
#include <corozk/testing/process_guard.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace corozk::testing::client_tests {

/// Longer than anything here takes on a busy machine.
inline constexpr std::chrono::milliseconds program_limit{60'000};

class program_run {
public:
    using variables = std::map<std::string, std::string>;

    explicit program_run(const std::vector<std::string>& arguments,
                         const std::string& input = {},
                         const variables& environment = {}) {
        std::ofstream(folder_.path() / "in") << input;
        process_options what;
        // The shell only puts the files in their places, and becomes the program.
        what.command = {"/bin/sh",
                        "-c",
                        "exec \"$0\" \"$@\" <\"$RUN_IN\" >\"$RUN_OUT\" 2>\"$RUN_ERR\"",
                        COROZK_PROGRAM};
        what.command.insert(what.command.end(), arguments.begin(), arguments.end());
        what.environment = environment;
        what.environment.emplace("COROZK_HOSTS", the_server().hosts());
        what.environment["RUN_IN"] = folder_.path() / "in";
        what.environment["RUN_OUT"] = folder_.path() / "out";
        what.environment["RUN_ERR"] = folder_.path() / "err";
        process_ = std::make_unique<process_guard>(what);
    }

    /// Waits for its end. @return the exit code
    int end() {
        if (!process_->wait(program_limit))
            throw std::runtime_error("the program did not end; it said: " + out() + err());
        return process_->exit_status().value();
    }

    std::string out() const { return text("out"); }
    std::string err() const { return text("err"); }
    process_guard& process() { return *process_; }

    /// Waits until it has written this to its standard output.
    void says(const std::string& words) {
        eventually([&] { return out().find(words) != std::string::npos; },
                   program_limit,
                   "the program to say " + words);
    }

private:
    std::string text(const char* name) const {
        std::ifstream in(folder_.path() / name);
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }

    temporary_directory folder_;
    std::unique_ptr<process_guard> process_;
};

/// Runs it to its end.
struct program_result {
    int code;
    std::string out;
    std::string err;
};

inline program_result run_program(const std::vector<std::string>& arguments,
                                  const std::string& input = {},
                                  const program_run::variables& environment = {}) {
    program_run run(arguments, input, environment);
    int code = run.end();
    return {code, run.out(), run.err()};
}

/// Whether a process is there (a zombie is not).
inline bool process_lives(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    if (!std::getline(stat, line))
        return false;
    auto behind_name = line.rfind(')');
    return behind_name != std::string::npos && line.at(behind_name + 2) != 'Z';
}

}  // namespace corozk::testing::client_tests
