// SPDX-License-Identifier: Apache-2.0
#include "cost_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <stdexcept>
#include <string_view>

namespace corozk::testing {

namespace {

constexpr std::string_view layout = "{:<58} | {:>8} | {:>6} | {:>6} | {:>8} | {}";

std::string trimmed(std::string_view text) {
    auto first = text.find_first_not_of(' ');
    if (first == std::string_view::npos)
        return std::string();
    return std::string(text.substr(first, text.find_last_not_of(' ') + 1 - first));
}

cost_line parse(const std::string& text) {
    std::vector<std::string> fields;
    for (std::size_t begin = 0; begin <= text.size();) {
        std::size_t end = std::min(text.find('|', begin), text.size());
        fields.push_back(trimmed(std::string_view(text).substr(begin, end - begin)));
        begin = end + 1;
    }
    auto number = [&](std::size_t i) { return std::uint64_t{std::stoull(fields.at(i))}; };
    std::size_t colon = fields.front().find(": ");
    if (fields.size() != 6 || colon == std::string::npos)
        throw std::runtime_error("no line of a table of costs: " + text);
    return {.group = fields[0].substr(0, colon),
            .name = fields[0].substr(colon + 2),
            .of = {.requests = number(1),
                   .events = number(2),
                   .bytes_sent = number(3),
                   .bytes_received = number(4),
                   .operations = fields[5]}};
}

const cost_line* find(const std::vector<cost_line>& lines, const cost_line& like) {
    auto at = std::find_if(lines.begin(), lines.end(), [&](const cost_line& line) {
        return line.group == like.group && line.name == like.name;
    });
    return at == lines.end() ? nullptr : &*at;
}

/// For people, in a terminal of 80 columns.
std::string describe(const cost& of) {
    return fmt::format("{} requests, {} events, {} + {} bytes: {}\n",
                       of.requests,
                       of.events,
                       of.bytes_sent,
                       of.bytes_received,
                       of.operations);
}

}  // namespace

std::string to_string(const cost_line& line) {
    return fmt::format(layout,
                       line.group + ": " + line.name,
                       line.of.requests,
                       line.of.events,
                       line.of.bytes_sent,
                       line.of.bytes_received,
                       line.of.operations);
}

std::vector<cost_line> read_costs(std::istream& from) {
    std::vector<cost_line> lines;
    for (std::string text; std::getline(from, text);) {
        if (!text.empty() && !text.starts_with('#'))
            lines.push_back(parse(text));
    }
    return lines;
}

std::string differences(const std::vector<cost_line>& recorded,
                        const std::vector<cost_line>& measured,
                        const std::string& group) {
    std::string text;
    auto tell = [&text](const cost_line& line, const cost* before, const cost* now) {
        text += line.group + ": " + line.name + "\n";
        text += "  recorded: " + (before ? describe(*before) : "nothing\n");
        text += "  now: " + (now ? describe(*now) : "not measured\n");
    };
    for (const cost_line& now : measured) {
        const cost_line* before = find(recorded, now);
        if (!before || *before != now)
            tell(now, before ? &before->of : nullptr, &now.of);
    }
    for (const cost_line& before : recorded) {
        if (before.group == group && !find(measured, before))
            tell(before, &before.of, nullptr);
    }
    return text;
}

std::vector<cost_line> replaced(std::vector<cost_line> recorded,
                                const std::vector<cost_line>& measured,
                                const std::string& group) {
    std::erase_if(recorded, [&](const cost_line& line) { return line.group == group; });
    // The table is sorted by group.
    auto place = std::ranges::upper_bound(recorded, group, {}, &cost_line::group);
    recorded.insert(place, measured.begin(), measured.end());
    return recorded;
}

std::string table_text(const std::vector<cost_line>& lines) {
    std::string text =
        "# SPDX-License-Identifier: Apache-2.0\n"
        "# What operations cost, exactly; test/costs/README.md says how to record it anew.\n" +
        fmt::format(layout, "# operation", "requests", "events", "sent", "received", "requests") +
        "\n";
    for (const cost_line& line : lines)
        text += to_string(line) + "\n";
    return text;
}

}  // namespace corozk::testing
