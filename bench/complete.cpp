// SPDX-License-Identifier: Apache-2.0
#include "complete.hpp"

#include "arguments.hpp"

#include <algorithm>

namespace corozk::bench {

namespace {

using candidate_list = std::vector<std::string>;

candidate_list command_names(const program& p) {
    candidate_list names;
    for (const command& c : p.commands)
        names.emplace_back(c.name);
    return names;
}

/// "memory|disk"; what is a word for a value, such as MS, is not one.
candidate_list alternatives(std::string_view value) {
    candidate_list found;
    auto bar = value.find('|');
    bool more = bar != value.npos;
    while (more) {
        const std::string_view one = value.substr(0, bar);
        if (one.front() < 'A' || one.front() > 'Z')
            found.emplace_back(one);
        more = bar != value.npos;
        value.remove_prefix(more ? bar + 1 : 0);
        bar = value.find('|');
    }
    return found;
}

/// Of "a,b" the part behind the last comma is completed.
candidate_list values_of(const option& o, std::string_view word) {
    if (o.names == nullptr)
        return alternatives(o.value);
    auto comma = word.rfind(',');
    const std::string before(comma == word.npos ? "" : word.substr(0, comma + 1));
    candidate_list found;
    for (std::string_view name : o.names())
        found.push_back(before + std::string(name));
    return found;
}

candidate_list candidates(const program& p,
                          std::span<const std::string_view> before,
                          std::string_view word) {
    if (before.empty() && word.starts_with('-'))
        return {"--help", "--version"};
    const std::string_view first = before.empty() ? std::string_view() : before.front();
    if (first.empty() || first == "help" || first == "--help" || first == "-h") {
        candidate_list names = before.size() < 2 ? command_names(p) : candidate_list();
        if (before.empty())
            names.emplace_back("help");
        return names;
    }
    auto c = std::find_if(p.commands.begin(), p.commands.end(), [first](const command& one) {
        return one.name == first;
    });
    if (c == p.commands.end())
        return {};
    const auto accepted = accepted_options(p, *c);
    if (std::find(accepted.begin(), accepted.end(), before.back()) != accepted.end()) {
        const option& o = find_option(before.back());
        if (!o.value.empty())
            return values_of(o, word);
    }
    candidate_list options(accepted.begin(), accepted.end());
    options.emplace_back("--help");
    return options;
}

}  // namespace

std::vector<std::string_view> accepted_options(const program& p, const command& c) {
    std::vector<std::string_view> accepted = c.options;
    settings s;
    c.defaults(s);
    auto common = common_options(s.look_only);
    accepted.insert(accepted.end(), common.begin(), common.end());
    if (p.write_report == nullptr)
        std::erase_if(accepted,
                      [](std::string_view o) { return o == "--report" || o == "--from"; });
    return accepted;
}

std::vector<std::string> complete(const program& p, std::span<const std::string_view> words) {
    if (words.empty())
        return {};
    const std::string_view word = words.back();
    candidate_list found = candidates(p, words.first(words.size() - 1), word);
    std::erase_if(found, [word](const std::string& one) { return !one.starts_with(word); });
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace corozk::bench
