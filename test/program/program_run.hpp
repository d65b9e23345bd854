// SPDX-License-Identifier: Apache-2.0
// The program `corozk`, run as a person would, against the server that the tests share.
#pragma once

#include "client_fixture.hpp"
#include <corozk/testing/process_guard.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace corozk::testing {

using namespace client_tests;

/// Longer than anything here takes on a busy machine.
inline constexpr std::chrono::milliseconds program_limit{60'000};

class program_run {
public:
    using variables = std::map<std::string, std::string>;

    /// @param environment added to ours; RUN_OUT and RUN_ERR name other files for its output
    /// @param starter another program, which is to start it: words before its own
    explicit program_run(const std::vector<std::string>& arguments,
                         const std::string& input = {},
                         const variables& environment = {},
                         const std::vector<std::string>& starter = {}) {
        std::ofstream(folder_.path() / "in") << input;
        process_options what;
        // The shell only puts the files in their places, and becomes the program.
        what.command = {
            "/bin/sh", "-c", "exec \"$@\" <\"$RUN_IN\" >\"$RUN_OUT\" 2>\"$RUN_ERR\"", "sh"};
        what.command.insert(what.command.end(), starter.begin(), starter.end());
        what.command.emplace_back(COROZK_PROGRAM);
        what.command.insert(what.command.end(), arguments.begin(), arguments.end());
        what.environment = environment;
        what.environment.emplace("COROZK_HOSTS", the_server().hosts());
        what.environment["RUN_IN"] = folder_.path() / "in";
        what.environment.emplace("RUN_OUT", folder_.path() / "out");
        what.environment.emplace("RUN_ERR", folder_.path() / "err");
        process_ = std::make_unique<process_guard>(what);
    }

    /// Waits for its end. @return what a shell shows as $?
    int end() {
        if (!process_->wait(program_limit))
            throw std::runtime_error("the program did not end; it said: " + out() + err());
        int status = process_->exit_status().value();
        return status < 0 ? 128 - status : status;
    }

    /// The signal that ended it; 0 if it ended by itself.
    int ended_by() {
        end();
        return std::max(0, -process_->exit_status().value());
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

    /// Waits until it has written this to its standard error.
    void reports(const std::string& words) {
        eventually([&] { return err().find(words) != std::string::npos; },
                   program_limit,
                   "the program to report " + words);
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
                                  const program_run::variables& environment = {},
                                  const std::vector<std::string>& starter = {}) {
    program_run run(arguments, input, environment, starter);
    int code = run.end();
    return {code, run.out(), run.err()};
}

/// Of a process: 'T' if it is stopped, 'X' if it is not there.
inline char state_of(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(stat, line);
    auto behind_name = line.rfind(')');
    return behind_name == std::string::npos ? 'X' : line.at(behind_name + 2);
}

/// Whether a process is there (a zombie is not).
inline bool process_lives(pid_t pid) {
    const char state = state_of(pid);
    return state != 'X' && state != 'Z';
}

}  // namespace corozk::testing
