// SPDX-License-Identifier: Apache-2.0
#include "recipe/two_phase_commit/rule.hpp"

#include "operation/path.hpp"
#include "recipe/contention/node_name.hpp"

#include <algorithm>
#include <unordered_set>

namespace corozk::detail {

namespace {

constexpr std::string_view first_line = "corozk two-phase commit 2";
constexpr std::string_view commit_word = "commit";
constexpr std::string_view abort_word = "abort";
constexpr std::string_view identity_prefix = "id-";
constexpr std::string_view site_prefix = "site-";
constexpr std::string_view joined_prefix = "joined-";
constexpr std::string_view done_prefix = "done-";
constexpr std::string_view decision_name = "decision";

std::string node_of(std::string_view prefix, std::string_view whose) {
    return std::string(prefix).append(whose);
}

/// Removes the first line; nothing if it is incomplete.
std::optional<std::string_view> take_line(std::string_view& text) {
    std::size_t end = text.find('\n');
    if (end == text.npos)
        return std::nullopt;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    return line;
}

std::optional<std::string_view> value_of(std::optional<std::string_view> line,
                                         std::string_view key) {
    if (!line || !line->starts_with(key))
        return std::nullopt;
    return line->substr(key.size());
}

}  // namespace

std::string format_header(const commit_header& header) {
    std::string data(first_line);
    data += header.form == commit_form::all_sites ? "\nform=all_sites" : "\nform=coordinator";
    data += "\nguid=" + header.guid;
    for (const std::string& site : header.sites)
        data += "\nsite=" + site;
    data += "\n\n";
    data += header.payload;
    return data;
}

std::optional<commit_header> parse_header(std::string_view data) {
    commit_header header;
    if (take_line(data) != first_line)
        return std::nullopt;
    auto form = value_of(take_line(data), "form=");
    if (form == "all_sites") {
        header.form = commit_form::all_sites;
    } else if (form == "coordinator") {
        header.form = commit_form::coordinator;
    } else {
        return std::nullopt;
    }
    auto guid = value_of(take_line(data), "guid=");
    if (!guid || !is_guid(*guid))
        return std::nullopt;
    header.guid = *guid;
    for (;;) {
        std::optional<std::string_view> line = take_line(data);
        if (!line)
            return std::nullopt;
        if (line->empty())
            break;
        auto site = value_of(line, "site=");
        if (!site)
            return std::nullopt;
        header.sites.emplace_back(*site);
    }
    if (!sites_are_good(header.sites))
        return std::nullopt;
    header.payload = data;
    return header;
}

bool sites_are_good(const std::vector<std::string>& sites) {
    bool fit = std::all_of(sites.begin(), sites.end(), [](const std::string& site) {
        return !site.empty() && site.find('/') == site.npos && !path_problem(site_node("/", site));
    });
    std::vector<std::string_view> sorted(sites.begin(), sites.end());
    std::sort(sorted.begin(), sorted.end());
    bool all_different = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
    return fit && all_different && !sites.empty();
}

std::string format_decision(const commit_outcome& outcome, std::string_view guid) {
    std::string data(outcome.committed ? commit_word : abort_word);
    data += '\n';
    data += guid;
    if (!outcome.committed) {
        data += '\n';
        data += outcome.reason;
    }
    return data;
}

std::optional<commit_decision> parse_decision(std::string_view data) {
    auto word = take_line(data);
    commit_decision result;
    if (word == commit_word) {
        if (data.find('\n') != data.npos)
            return std::nullopt;
        result.outcome.committed = true;
        result.guid = data;
    } else if (word == abort_word) {
        auto guid = take_line(data);
        if (!guid)
            return std::nullopt;
        result.guid = *guid;
        result.outcome.reason = data;
    } else {
        return std::nullopt;
    }
    if (result.guid.empty())
        return std::nullopt;
    return result;
}

std::string_view format_vote(commit_vote vote) noexcept {
    return vote == commit_vote::commit ? commit_word : abort_word;
}

site_state read_vote(std::string_view data) noexcept {
    if (data.empty())
        return site_state::silent;
    if (data == commit_word)
        return site_state::commit;
    if (data == abort_word)
        return site_state::abort;
    return site_state::foreign;
}

std::optional<commit_outcome> decide_commit(const std::vector<std::string>& sites,
                                            const std::vector<site_state>& states) {
    for (std::size_t i = 0; i < sites.size(); ++i) {
        switch (states[i]) {
            case site_state::abort:
                return commit_outcome(false, "site " + sites[i] + " voted to abort");
            case site_state::dead: return commit_outcome(false, "site " + sites[i] + " died");
            case site_state::foreign:
                return commit_outcome(false, "the vote of site " + sites[i] + " is unreadable");
            default: break;
        }
    }
    bool all = std::all_of(
        states.begin(), states.end(), [](site_state s) { return s == site_state::commit; });
    if (!all || states.size() != sites.size())
        return std::nullopt;
    return commit_outcome(true, std::string());
}

commit_leftovers sort_leftovers(std::string_view transaction,
                                const commit_header& header,
                                const name_list& children) {
    const std::unordered_set<std::string_view> sites(header.sites.begin(), header.sites.end());
    const std::string identity = node_of(identity_prefix, header.guid);
    commit_leftovers found;
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < children.size(); ++i) {
        std::string_view name = children[i];
        // No transaction deletes a node twice, whatever the server lists.
        if (!seen.insert(name).second)
            continue;
        if (name == identity)
            found.identified = true;
        if (name == decision_name || name == identity)
            continue;
        bool acknowledges =
            name.starts_with(done_prefix) && sites.contains(name.substr(done_prefix.size()));
        auto& group = acknowledges ? found.acknowledgements : found.others;
        group.push_back(join_path(transaction, name));
    }
    return found;
}

std::string identity_node(std::string_view transaction, std::string_view guid) {
    return join_path(transaction, node_of(identity_prefix, guid));
}

std::string site_node(std::string_view transaction, std::string_view site) {
    return join_path(transaction, node_of(site_prefix, site));
}

std::string joined_node(std::string_view transaction, std::string_view site) {
    return join_path(transaction, node_of(joined_prefix, site));
}

std::string done_node(std::string_view transaction, std::string_view site) {
    return join_path(transaction, node_of(done_prefix, site));
}

std::string decision_node(std::string_view transaction) {
    return join_path(transaction, decision_name);
}

}  // namespace corozk::detail
