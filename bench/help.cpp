// SPDX-License-Identifier: Apache-2.0
#include "help.hpp"

#include "arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace corozk::bench {

namespace {

constexpr std::size_t line_width = 88;
constexpr std::size_t name_width = 12;

std::string numbers_text(const std::vector<std::size_t>& numbers) {
    return fmt::format("{}", fmt::join(numbers, ","));
}

/// What a command does without an option, where commands differ; "" if there is nothing to say.
std::string default_of(std::string_view name, const settings& s) {
    if (name == "--repeat")
        return std::to_string(s.repeat);
    if (name == "--session-timeout")
        return std::to_string(s.session_timeout.count());
    if (name == "--warm-up")
        return std::to_string(s.warm_up);
    if (name == "--limit")
        return numbers_text(s.limits);
    if (name == "--processes")
        return std::to_string(s.processes);
    if (name == "--load")
        return numbers_text(s.loads);
    if (name == "--waiters")
        return numbers_text(s.waiters);
    if (name == "--clients")
        return numbers_text(s.clients);
    if (name == "--hold")
        return std::to_string(s.hold.count());
    if (name == "--peers")
        return s.peers.empty() ? "none" : fmt::format("{}", fmt::join(s.peers, ","));
    return {};
}

std::string describe(std::string_view name, const settings& s) {
    const option& o = find_option(name);
    std::string head(o.name);
    if (!o.value.empty())
        head += fmt::format(" {}", o.value);
    std::string text(o.help);
    if (auto its = default_of(name, s); !its.empty())
        text += fmt::format(" (default {})", its);
    return fmt::format("  {}\n{}", head, wrapped(text, 6));
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent) {
    std::string result;
    std::string line(indent, ' ');
    while (!text.empty()) {
        auto space = text.find(' ');
        std::string_view word = text.substr(0, space);
        text.remove_prefix(space == text.npos ? text.size() : space + 1);
        if (line.size() > indent && line.size() + 1 + word.size() > line_width) {
            result += line + '\n';
            line.assign(indent, ' ');
        }
        if (line.size() > indent)
            line += ' ';
        line += word;
    }
    return result + line + '\n';
}

std::string general_help(std::string_view program, std::span<const command> commands) {
    std::string text = wrapped(fmt::format(
        "{} measures corozk (ZooKeeper recipes as C++ coroutines), and what locks cost "
        "when very many wait for them. It starts a ZooKeeper server of its own on a free port and "
        "stops it at the end; --hosts uses one that is already there.",
        program));
    text += fmt::format("\nusage: {} COMMAND [OPTIONS]\n\n", program);
    for (const auto& c : commands) {
        std::string summary = wrapped(c.summary, name_width + 2);
        summary.replace(2, c.name.size(), c.name);
        text += summary;
    }
    text += fmt::format("\n{} COMMAND --help explains a command and its options.", program);
    if (commands.size() > 1) {
        text +=
            " For example\n\n"
            "  corozk-bench handover --waiters 100,1000,10k --implementation ours\n"
            "  corozk-bench many --waiters 100k --json many.json\n"
            "  corozk-bench stall --watches 50k";
    }
    text += "\n\n";
    text += wrapped(
        "Results go to standard output, progress to standard error. Exit codes: 0 good, "
        "1 failed, or nothing was measured (of judge: a wrong recipe; of watch: a herd), 2 wrong "
        "options (of judge: it cannot be judged; of watch: no server tells anything), 130 "
        "interrupted.");
    return text;
}

std::string command_help(const command& c) {
    settings s;
    c.defaults(s);
    std::string text = fmt::format("corozk-bench {}: {}\n\n", c.name, c.summary);
    text += wrapped(c.details) + "\n";
    if (!c.options.empty())
        text += "options:\n";
    for (auto name : c.options)
        text += describe(name, s);
    text += s.look_only ? "options of other commands as well:\n" : "options of every command:\n";
    for (auto name : common_options(s.look_only))
        text += describe(name, s);
    return text;
}

}  // namespace corozk::bench
