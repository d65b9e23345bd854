// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include "arguments.hpp"
#include "complete.hpp"
#include "help.hpp"
#include "interruption.hpp"
#include "json_file.hpp"
#include "output.hpp"
#include "progress.hpp"
#include <corozk/version.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/serialize.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {
namespace {

constexpr int exit_failure = 1;  // before a command is known
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

/// Plays it, and leaves nothing on the servers, whatever happens meanwhile. @return as run_on_loop
bool play(const command& c, job& j) {
    struct cleaner {
        stage& on;
        explicit cleaner(stage& s) : on(s) {}
        ~cleaner() { on.clean_up(); }
        cleaner(const cleaner&) = delete;
        cleaner& operator=(const cleaner&) = delete;
    };
    cleaner at_the_end(j.on);
    j.on.prepare();
    return run_on_loop(c, j);
}

/// What has taken long to measure: each of these is worth something without the others.
/// @return whether all of them went well
bool do_all(const program& p, const std::vector<std::function<void()>>& steps) {
    bool good = true;
    for (const auto& step : steps) {
        try {
            step();
        } catch (const std::exception& e) {
            remark(fmt::format("{}: {}\n", p.name, e.what()));
            good = false;
        }
    }
    return good;
}

/// A row may also say that its measurement was given up.
bool has_measured(const job& j) {
    return j.wanted.look_only || !j.results.empty();
}

/// What was measured before it was interrupted, or failed: a command makes its table at its end.
std::string unfinished(const job& j) {
    std::string text = "not complete; what was measured, a row a line:\n";
    for (const result& r : j.results) {
        auto row = r.to_json();
        row.erase("distribution_us");
        text += boost::json::serialize(row) + "\n";
    }
    return text;
}

int run_command(const program& p,
                const command& c,
                const settings& s,
                std::span<const std::string_view> words) {
    if (!s.from.empty() && !s.json_file.empty())
        throw usage_error(
            "--json: with --from nothing is measured; the rows of all files are in the report's "
            "rows.json");
    for (std::string_view ignored : {"--hosts", "--servers", "--repeat", "--peers", "--warm-up"}) {
        if (!s.from.empty() && s.was_given(ignored))
            throw usage_error(fmt::format("{}: with --from nothing is measured", ignored));
    }
    interruption::install();
    json_file file(s.json_file);
    if (!s.from.empty()) {
        auto rows = p.read_rows(s.from);
        p.prepare_report(s.report_folder);
        say(p.write_report(s.report_folder, rows));
        return 0;
    }
    if (!s.report_folder.empty())
        p.prepare_report(s.report_folder);
    progress shown(s.show_progress);
    stage on(s, shown);
    job j(s, on);
    bool complete = false;
    std::exception_ptr problem;
    try {
        complete = play(c, j);
    } catch (const std::exception&) {
        problem = std::current_exception();
    }
    shown.clear();
    auto rows = rows_of(c.name, words, on, j.facts, j.results);
    std::vector<std::function<void()>> steps;
    // Who only looks is interrupted some time, and has found what it has found.
    const bool reports = complete || (s.look_only && !problem);
    // What is in the file is not given up for nothing.
    if (problem ? !rows.empty() : has_measured(j))
        steps.emplace_back([&] { file.write(rows); });
    if (complete)
        steps.insert(steps.begin(), [&] { say(j.output); });
    else if (!s.look_only && !j.results.empty())
        steps.insert(steps.begin(), [&] { say(unfinished(j)); });
    if (reports && !s.report_folder.empty())
        steps.emplace_back([&] { say("\n" + p.write_report(s.report_folder, rows)); });
    bool good = do_all(p, steps);
    if (problem)
        std::rethrow_exception(problem);
    if (!reports)
        return exit_interrupted;
    if (!has_measured(j)) {
        remark(fmt::format("{}: nothing was measured\n", p.name));
        good = false;
    }
    if (!good && j.exit_code == 0)
        return c.failure;
    return complete || j.exit_code != 0 ? j.exit_code : exit_interrupted;
}

const command& find_command(const program& p, std::string_view name) {
    auto at = std::find_if(
        p.commands.begin(), p.commands.end(), [name](const command& c) { return c.name == name; });
    if (at != p.commands.end())
        return *at;
    std::vector<std::string_view> names;
    for (const auto& c : p.commands)
        names.push_back(c.name);
    auto near = closest(name, names);
    throw usage_error(near.empty()
                          ? fmt::format("unknown command '{}'", name)
                          : fmt::format("unknown command '{}'; did you mean '{}'?", name, near));
}

int run(const program& p, std::span<const std::string_view> words) {
    if (words.empty()) {
        remark(general_help(p.name, p.commands));
        return exit_usage;
    }
    if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
        if (words.size() > 1) {
            say(command_help(find_command(p, words[1])));
        } else {
            say(general_help(p.name, p.commands));
        }
        return 0;
    }
    if (words[0] == "worker" && p.run_worker != nullptr)
        return p.run_worker(words.subspan(1));
    if (words[0] == "--complete") {
        for (const std::string& word : complete(p, words.subspan(1)))
            fmt::print("{}\n", word);
        return 0;
    }
    if (words[0] == "--version") {
        say(fmt::format("{} {} (C client {})\n", p.name, version(), c_client_version()));
        return 0;
    }
    if (words[0].starts_with('-')) {
        throw usage_error(fmt::format("the command comes first, before '{}'", words[0]));
    }
    const command& c = find_command(p, words[0]);
    settings s;
    c.defaults(s);
    try {
        if (!parse_arguments(words.subspan(1), accepted_options(p, c), s)) {
            if (c.check != nullptr)
                c.check(s);
            return run_command(p, c, s, words);
        }
    } catch (const usage_error& e) {
        throw usage_error(
            fmt::format("{}: {}\nSee {} {} --help.", c.name, e.what(), p.name, c.name));
    } catch (const interrupted&) {
        throw;
    } catch (const std::exception& e) {
        remark(fmt::format("{}: {}\n", p.name, e.what()));
        return c.failure;
    }
    say(command_help(c));
    return 0;
}

}  // namespace

int run_program(const program& p, int argc, char** argv) {
    std::vector<std::string_view> words(argv + 1, argv + argc);
    try {
        return run(p, words);
    } catch (const usage_error& e) {
        std::string text = e.what();
        if (text.find("--help") == text.npos)
            text += fmt::format("\nSee {} --help.", p.name);
        remark(fmt::format("{}: {}\n", p.name, text));
        return exit_usage;
    } catch (const interrupted&) {
        return exit_interrupted;
    } catch (const std::exception& e) {
        remark(fmt::format("{}: {}\n", p.name, e.what()));
        return exit_failure;
    }
}

}  // namespace corozk::bench
