// SPDX-License-Identifier: Apache-2.0
// Names, paths, host lists, and the small texts in nodes' data.
#include "checks.hpp"
#include "operation/path.hpp"
#include "recipe/contention/limit.hpp"
#include "recipe/contention/node_name.hpp"
#include "recipe/contention/release_request.hpp"
#include "recipe/leader/election_rule.hpp"
#include "recipe/locks/multi_lock_rule.hpp"
#include "recipe/nodes/rule.hpp"
#include "recipe/priority_lock/rule.hpp"
#include "session/ensemble_follower.hpp"
#include "session/hosts.hpp"

#include <algorithm>
#include <set>

namespace corozk::fuzz {

using namespace corozk::detail;

namespace {

naming with_dashes(naming n) {
    n.dashed_guid = true;
    return n;
}

/// Every way in which a recipe names its contenders.
const std::vector<naming>& all_namings() {
    static const std::vector<naming> all = [] {
        std::vector<naming> list = {naming("", {"-lock-"}),
                                    naming("", {"__lock__"}),
                                    naming("", {"__rlock__", "__lock__"}),
                                    naming("", {"-read-", "-write-"}),
                                    naming("", {"-n_"}),
                                    naming("", {"__lease__"}),
                                    naming("", {"-lease-"}),
                                    with_dashes(naming("_c_", {"-lock-"})),
                                    with_dashes(naming("_c_", {"-__READ__", "-__WRIT__"})),
                                    with_dashes(naming("_c_", {"-latch-"})),
                                    with_dashes(naming("_c_", {"-lease-"}))};
        list[5].counts_everything = true;
        list[6].weighted = true;
        list[7].foreign_infixes = {"lock-"};
        list[10].counts_everything = true;
        return list;
    }();
    return all;
}

}  // namespace

void node_names(std::string_view input) {
    for (const naming& names : all_namings()) {
        auto found = names.parse(input);
        if (!found)
            continue;
        require(found->kind < names.infixes.size(), "a kind that there is", input);
        require(found->weight >= 1, "a positive weight", input);
        if (!found->ordered)
            continue;
        require(std::string(found->stem) + sequence_text(found->sequence) == input,
                "a name is its stem and its sequence",
                input);
        if (found->guid.empty())
            continue;
        std::string guid(found->guid);
        guid.erase(std::remove(guid.begin(), guid.end(), '-'), guid.end());
        require(guid.size() == 32, "a guid has 32 digits", input);
        std::string written =
            names.format(guid, found->kind, found->weight) + sequence_text(found->sequence);
        auto again = names.parse(written);
        require(again && again->kind == found->kind && again->weight == found->weight &&
                    again->sequence == found->sequence && names.is_written(guid, again->guid),
                "what is written is read",
                input);
    }
}

void sequences(std::string_view input) {
    auto found = parse_sequence(input);
    if (found)
        require(sequence_text(*found) == input, "only what the server writes", input);
}

void paths(std::string_view input) {
    for (bool sequential : {false, true}) {
        if (path_problem(input, sequential))
            continue;
        require(input.front() == '/', "absolute", input);
        require(input.find("//") == input.npos, "no empty component", input);
        require(sequential || input == "/" || input.back() != '/', "no trailing slash", input);
        // With its sequence it is a path for all purposes.
        if (sequential && input != "/")
            require(!path_problem(std::string(input) + "0000000001"), "a path afterwards", input);
    }
    if (!path_problem(input) && input != "/") {
        std::string_view parent = parent_path(input);
        std::string_view name = base_name(input);
        require(!path_problem(parent), "a parent is a path", input);
        require(!name.empty() && name.find('/') == name.npos, "a name is a name", input);
        require(join_path(parent, name) == input, "a path is parent and name", input);
    }
    auto named = name_path("/root", input);
    if (named) {
        require(!path_problem(*named), "a name's path is one", input);
        require(named->starts_with("/root/"), "and below the root", input);
    }
}

void host_lists(std::string_view input) {
    host_list list = parse_hosts(input);
    if (!list.problem.empty())
        return;
    require(!list.hosts.empty(), "a good list has a host", input);
    require(list.hosts.size() <= input.size(), "no more hosts than characters", input);
    require(list.chroot.empty() || !path_problem(list.chroot), "a chroot is a path", input);
    std::string written;
    for (const host& h : list.hosts) {
        require(!h.name.empty() && h.port != 0, "a host has a name and a port", input);
        bool brackets = h.name.find(':') != h.name.npos;
        written += (written.empty() ? "" : ",");
        written += brackets ? "[" + h.name + "]" : h.name;
        written += ":" + std::to_string(h.port);
    }
    written += list.chroot;
    host_list again = parse_hosts(written);
    require(again.problem.empty() && again.hosts.size() == list.hosts.size() &&
                again.chroot == list.chroot,
            "what is written is read",
            input);
    for (std::size_t i = 0; i < list.hosts.size(); ++i) {
        require(
            again.hosts[i].name == list.hosts[i].name && again.hosts[i].port == list.hosts[i].port,
            "and means the same",
            input);
    }
}

void ensemble_configurations(std::string_view input) {
    client_configuration found = parse_configuration(input);
    require(found.hosts.size() <= 2 * input.size() + 2, "no more hosts than characters", input);
}

void limits(std::string_view input) {
    auto limit = parse_limit(input);
    if (limit) {
        require(*limit > 0, "a limit is positive", input);
        require(parse_limit(std::to_string(*limit)) == limit, "what is written is read", input);
    }
    auto ageing = parse_ageing(input);
    if (ageing) {
        require(*ageing >= 0, "an ageing is not negative", input);
        require(parse_ageing(std::to_string(*ageing)) == ageing, "what is written is read", input);
    }
}

void elections(std::string_view input) {
    std::vector<std::string> lines = lines_of(input);
    for (const naming& names : all_namings()) {
        election_view view = view_election(names, lines);
        if (view.leader.empty())
            continue;
        auto leader = names.parse(view.leader);
        require(leader.has_value(), "the leader is a candidate", input);
    }
    std::string acknowledgement = acknowledgement_of(lines.front());
    require(!naming("", {"-n_"}).parse(acknowledgement), "no candidate's name", input);
    auto twice = named_twice(lines);
    std::set<std::string> different(lines.begin(), lines.end());
    require(twice.has_value() == (different.size() < lines.size()), "a name twice", input);
    if (twice)
        require(std::count(lines.begin(), lines.end(), *twice) > 1, "this one", input);
}

void release_requests(std::string_view input) {
    for (std::string_view text : {std::string_view("unlock"), std::string_view("x\ny")}) {
        std::string asked = with_release_request(input, text);
        require(has_release_request(asked, text), "who is asked sees it", input);
        if (!has_release_request(input, text)) {
            require(
                without_release_request(input, text, 1) == input, "nothing to take away", input);
            require(
                without_release_request(asked, text, 1) == input, "what was there is there", input);
        }
        require(has_release_request(with_release_request(input, text, true), text),
                "in its place, too",
                input);
    }
}

}  // namespace corozk::fuzz
