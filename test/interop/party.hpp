// SPDX-License-Identifier: Apache-2.0
// The other party: a process that uses Curator's or Kazoo's recipes.
#pragma once

#include "corozk_interop_paths.hpp"
#include "pending_result.hpp"
#include <corozk/testing/process_guard.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::testing {

enum class party_kind : std::uint8_t { curator, kazoo };

inline const char* name_of(party_kind which) {
    return which == party_kind::curator ? "curator" : "kazoo";
}

/// More than any of these tests needs on a busy machine.
inline constexpr std::chrono::milliseconds party_limit{100'000};

/// Starts a program of ours in Java: faster, and without files in /tmp.
inline std::vector<std::string> java_program(const char* class_path, const char* name) {
    return {interop_java,
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xshare:auto",
            "-XX:-UsePerfData",
            "-Xmx128m",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-cp",
            class_path,
            name};
}

class party {
public:
    /// `arguments`: "name=value" for the program; the hosts are those of the shared server.
    party(party_kind which, const std::vector<std::string>& arguments) : which_(which) {
        process_options what;
        if (which == party_kind::curator) {
            what.command = java_program(interop_class_path, "CuratorContender");
        } else {
            what.command = {interop_python, interop_kazoo_program};
            what.environment["PYTHONDONTWRITEBYTECODE"] = "1";
        }
        what.command.push_back("hosts=" + shared_server().hosts());
        what.command.insert(what.command.end(), arguments.begin(), arguments.end());
        what.output = folder_.path() / "output";
        process_ = std::make_unique<process_guard>(what);
    }

    const char* name() const { return name_of(which_); }

    /// Its output and error output so far.
    std::string output() const {
        std::ifstream in(folder_.path() / "output");
        std::ostringstream text;
        text << in.rdbuf();
        return text.str();
    }

    /// The lines of its output.
    std::vector<std::string> lines() const {
        std::istringstream in(output());
        std::vector<std::string> found;
        for (std::string line; std::getline(in, line);) {
            if (line.starts_with("= "))
                found.push_back(line.substr(2));
        }
        return found;
    }

    /// Whether this is among its lines.
    bool said(const std::string& line) const {
        std::vector<std::string> all = lines();
        return std::find(all.begin(), all.end(), line) != all.end();
    }

    /// Waits until it says this.
    boost::asio::awaitable<void> says(std::string line) {
        auto it_did = [this, &line] { return said(line); };
        co_await until(it_did, line);
    }

    /// It dies: the server ends its session after the session's timeout.
    void kill() { process_->kill(); }

    /// Whether it has ended successfully.
    /// @throws std::runtime_error with all its output, if it failed.
    bool ended() {
        auto status = process_->exit_status();
        if (status && *status != 0) {
            throw std::runtime_error(std::string(name()) + " ended with " +
                                     std::to_string(*status) + ":\n" + output());
        }
        return status.has_value();
    }

    /// @throws std::runtime_error if it fails, or does not end in time.
    boost::asio::awaitable<void> end() {
        co_await until([this] { return ended(); }, "to end");
    }

    /// Waits until a condition holds that the other party brings about.
    /// @throws std::runtime_error with all its output, if it fails, ends, or takes too long.
    template <class Predicate>
    boost::asio::awaitable<void> until(Predicate predicate, std::string what) {
        std::string problem;
        try {
            auto look = [&] {
                try {
                    if (predicate())
                        return true;
                    ended();
                    return false;
                } catch (const std::exception& e) {
                    problem = e.what();
                    return true;
                }
            };
            co_await eventually_async(look, party_limit, "the other party");
        } catch (const timeout_error&) {
            problem = std::string(name()) + " did not get to the point: " + what + "; it said:\n" +
                      output();
        }
        if (!problem.empty())
            throw std::runtime_error(problem);
    }

private:
    party_kind which_;
    temporary_directory folder_;
    std::unique_ptr<process_guard> process_;
};

}  // namespace corozk::testing
