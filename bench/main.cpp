// SPDX-License-Identifier: Apache-2.0
// corozk-bench: see commands.cpp for what it can do, and README.md for how to read its figures.
#include "arguments.hpp"
#include "command.hpp"
#include "help.hpp"
#include "interruption.hpp"
#include "json_file.hpp"
#include "progress.hpp"
#include "report/plot.hpp"
#include "report/report.hpp"
#include "worker.hpp"
#include <corozk/version.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {
namespace {

constexpr int exit_failure = 1;
constexpr int exit_usage = 2;
constexpr int exit_interrupted = 130;

/// Runs the command on an event loop of its own. @return false if it was interrupted.
bool run_on_loop(const command& c, job& j) {
    std::exception_ptr problem;
    boost::asio::io_context context(1);
    interruption_watcher watcher(context);
    bool ended = false;
    boost::asio::co_spawn(context, c.run(j), [&](std::exception_ptr e) {
        problem = e;
        ended = true;
        context.stop();  // what is left over after an error need not end
    });
    context.run();
    if (interruption::requested())
        return false;
    if (problem)
        std::rethrow_exception(problem);
    return ended;
}

int run_command(const command& c, const settings& s, std::span<const std::string_view> words) {
    interruption::install();
    json_file file(s.json_file);
    if (!s.report_folder.empty())
        require_gnuplot();
    if (!s.from.empty()) {
        fmt::print("{}", write_report(s.report_folder, read_rows(s.from)));
        return 0;
    }
    progress shown(s.show_progress);
    stage on(s, shown);
    job j(s, on);
    bool complete = false;
    try {
        complete = run_on_loop(c, j);
    } catch (...) {
        on.clean_up();
        throw;
    }
    shown.clear();
    if (complete)
        fmt::print("{}", j.output);
    std::fflush(stdout);
    auto rows = rows_of(c.name, words, on, j.facts, j.results);
    file.write(rows);
    if (complete && !s.report_folder.empty())
        fmt::print("\n{}", write_report(s.report_folder, rows));
    on.clean_up();
    return complete ? 0 : exit_interrupted;
}

int run(std::span<const std::string_view> words) {
    if (words.empty()) {
        fmt::print(stderr, "{}", general_help());
        return exit_usage;
    }
    if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
        if (words.size() > 1) {
            fmt::print("{}", command_help(find_command(words[1])));
        } else {
            fmt::print("{}", general_help());
        }
        return 0;
    }
    if (words[0] == "worker")  // of --processes
        return run_worker(words.subspan(1));
    if (words[0] == "--version") {
        fmt::print("corozk-bench {} (C client {})\n", version(), c_client_version());
        return 0;
    }
    if (words[0].starts_with('-')) {
        throw usage_error(fmt::format("the command comes first, before '{}'", words[0]));
    }
    const command& c = find_command(words[0]);
    settings s;
    c.defaults(s);
    std::vector<std::string_view> accepted = c.options;
    accepted.insert(accepted.end(), common_options().begin(), common_options().end());
    bool help = false;
    try {
        help = parse_arguments(words.subspan(1), accepted, s);
    } catch (const usage_error& e) {
        throw usage_error(
            fmt::format("{}: {}\nSee corozk-bench {} --help.", c.name, e.what(), c.name));
    }
    if (help) {
        fmt::print("{}", command_help(c));
        return 0;
    }
    return run_command(c, s, words);
}

}  // namespace
}  // namespace corozk::bench

int main(int argc, char** argv) {
    using namespace corozk::bench;
    std::vector<std::string_view> words(argv + 1, argv + argc);
    try {
        return run(words);
    } catch (const usage_error& e) {
        std::string text = e.what();
        if (text.find("--help") == text.npos)
            text += "\nSee corozk-bench --help.";
        fmt::print(stderr, "corozk-bench: {}\n", text);
        return exit_usage;
    } catch (const interrupted&) {
        return exit_interrupted;
    } catch (const std::exception& e) {
        fmt::print(stderr, "corozk-bench: {}\n", e.what());
        return exit_failure;
    }
}
