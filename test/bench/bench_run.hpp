// SPDX-License-Identifier: Apache-2.0
// The program `corozk-bench`, run as a person would.
#pragma once

#include "client_fixture.hpp"
#include <corozk/testing/process_guard.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace corozk::testing {

using namespace client_tests;

inline std::string content_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// The processes that a process has started and that still run.
inline std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> all;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos)
            continue;
        std::string line = content_of(entry.path() / "stat");
        auto behind_name = line.rfind(") ");
        if (behind_name != std::string::npos && line.size() > behind_name + 4 &&
            std::stol(line.substr(behind_name + 4)) == parent)
            all.push_back(static_cast<pid_t>(std::stol(name)));
    }
    return all;
}

// What a row says.

/// Empty if it is not there.
inline std::string text(const boost::json::object& row, const char* key) {
    const auto* value = row.if_contains(key);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

inline double figure(const boost::json::object& row, const char* key) {
    return row.at(key).to_number<double>();
}

inline double figure(const boost::json::object& row, const char* key, const char* quantile) {
    return figure(row.at(key).as_object(), quantile);
}

/// Files for one case, and runs of the program with them.
class bench_run {
public:
    /// Runs it to its end. @return the exit code
    int run(const std::vector<std::string>& arguments) {
        std::filesystem::remove(folder_.path() / "out");
        process_options what;
        what.command = {COROZK_BENCH};
        what.command.insert(what.command.end(), arguments.begin(), arguments.end());
        what.output = folder_.path() / "out";
        process_guard process(what);
        if (!process.wait(std::chrono::minutes(4)))
            throw std::runtime_error("the program did not end; it said: " + out());
        return process.exit_status().value();
    }

    /// A command with few of everything, on the server that the tests share.
    int run_small(std::string command, const std::vector<std::string>& more) {
        std::vector<std::string> arguments{std::move(command),
                                           "--hosts",
                                           the_server().hosts(),
                                           "--repeat",
                                           "1",
                                           "--warm-up",
                                           "100",
                                           "--json",
                                           path("rows.json")};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(arguments);
    }

    std::string path(const std::string& name) const { return folder_.path() / name; }
    std::string out() const { return content_of(folder_.path() / "out"); }

    /// None if there is no file: nothing was measured.
    boost::json::array rows(const std::string& file = "rows.json") const {
        if (!std::filesystem::exists(folder_.path() / file))
            return {};
        return boost::json::parse(content_of(folder_.path() / file)).as_array();
    }

private:
    temporary_directory folder_;
};

}  // namespace corozk::testing
