// SPDX-License-Identifier: Apache-2.0
#include "targets.hpp"

#include "block/limit.hpp"
#include "block/node_name.hpp"
#include "block/release_request.hpp"
#include "recipe/configuration_algo.hpp"
#include "recipe/counter_algo.hpp"
#include "recipe/double_barrier_algo.hpp"
#include "recipe/election_algo.hpp"
#include "recipe/item_order.hpp"
#include "recipe/multi_lock_algo.hpp"
#include "recipe/name_service_algo.hpp"
#include "recipe/priority_lock_algo.hpp"
#include "recipe/queue_algo.hpp"
#include "recipe/two_phase_commit_algo.hpp"
#include "session/hosts.hpp"
#include "session/name_list.hpp"
#include "session/path.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace corozk::fuzz {

namespace {

using namespace corozk::detail;

void require(bool holds, const char* what, std::string_view input) {
    if (holds)
        return;
    std::fprintf(stderr, "does not hold: %s\ninput: ", what);
    for (char c : input)
        std::fprintf(stderr, "\\x%02x", static_cast<unsigned char>(c));
    std::fprintf(stderr, "\n");
    std::abort();
}

std::string sequence_text(std::int32_t sequence) {
    char text[16];
    std::snprintf(text, sizeof text, "%010d", sequence);
    return text;
}

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines(1);
    for (char c : text) {
        if (c == '\n') {
            lines.emplace_back();
        } else {
            lines.back() += c;
        }
    }
    return lines;
}

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

void counters(std::string_view input) {
    for (auto format : {counter_format::native,
                        counter_format::curator_long,
                        counter_format::curator_integer,
                        counter_format::kazoo}) {
        auto record = parse_counter(format, input);
        if (!record)
            continue;
        require(fits(format, record->value), "a value fits its format", input);
        require(record->writers.size() <= input.size(), "no more writers than characters", input);
        std::string written = print_counter(format, *record);
        auto again = parse_counter(format, written);
        require(again && again->value == record->value && again->identity == record->identity &&
                    again->revision == record->revision && again->forgotten == record->forgotten &&
                    again->writers.size() == record->writers.size(),
                "what is written is read",
                input);
        require(print_counter(format, *again) == written, "and is written the same", input);
    }
}

void commits(std::string_view input) {
    if (auto header = parse_header(input)) {
        require(sites_are_good(header->sites), "sites are good", input);
        require(format_header(*header) == input, "nothing but what is written is read", input);
        for (const std::string& site : header->sites)
            require(!path_problem(site_node("/tx", site)), "a site has a node", input);
    }
    if (auto decision = parse_decision(input)) {
        require(format_decision(decision->outcome, decision->guid) == input,
                "nothing but what is written is read",
                input);
    }
    static_cast<void>(read_vote(input));
    static_cast<void>(sites_are_good(lines_of(input)));
}

void barriers(std::string_view input) {
    auto round = parse_round(input);
    if (round && !input.empty())
        require(format_round(*round) == input, "nothing but what is written is read", input);
    name_list names;
    for (const std::string& line : lines_of(input)) {
        names.push_back(line);
        auto member = parse_member(line);
        if (!member)
            continue;
        std::string written =
            member_prefix("0123456789abcdef0123456789abcdef") + sequence_text(*member);
        require(parse_member(written) == member, "what is written is read", input);
    }
    static_cast<void>(view_barrier(names, round.value_or(round_record())));
}

void priorities(std::string_view input) {
    std::vector<std::string> lines = lines_of(input);
    std::vector<std::string_view> views(lines.begin(), lines.end());
    std::size_t good = 0;
    for (std::string_view line : views) {
        auto found = parse_ranked(line);
        if (!found)
            continue;
        ++good;
        std::string written = format_ranked(found->guid, found->kind, found->priority) +
                              sequence_text(found->sequence);
        auto again = parse_ranked(written);
        require(again && again->priority == found->priority && again->kind == found->kind &&
                    again->sequence == found->sequence && !again->record,
                "what is written is read",
                input);
        std::string record = found->record ? std::string(line) : record_of(line);
        auto held = parse_ranked(record);
        require(held && held->record && held->contender == found->contender,
                "a record is its contender's",
                input);
    }
    ranked_listing listing = sort_out(views, 0);
    require(listing.places.size() <= good, "one place for each", input);
    for (std::size_t i = 0; i < listing.places.size(); ++i) {
        require(listing.find(listing.contenders[i]) == i, "a place is found", input);
        require(!listing.blocking_node(i).empty(), "and is somebody", input);
    }
}

void queues(std::string_view input) {
    std::vector<std::string> lines = lines_of(input);
    name_list listing;
    for (const std::string& line : lines)
        listing.push_back(line);
    for (auto format : {queue_format::native, queue_format::curator, queue_format::kazoo}) {
        for (auto order : {queue_order::arrival, queue_order::priority, queue_order::due_time}) {
            queue_names names(format, order);
            for (const std::string& line : lines) {
                auto key = names.parse(line);
                if (!key || !names.allows(key->rank))
                    continue;
                std::string written = names.prefix(key->rank) + sequence_text(key->sequence);
                auto again = names.parse(written);
                require(
                    again && again->sequence == key->sequence, "what is written is read", input);
                if (names.ranked())
                    require(again->rank == key->rank, "with its rank", input);
                if (names.timed())
                    require(written == line, "an item's name has one form", input);
            }
            item_order items(names, listing);
            require(items.size() <= lines.size(), "no more items than names", input);
            for (std::size_t i = 0; i < items.size(); ++i) {
                const queue_entry& item = items[i];
                require(names.parse(lines.at(item.index)) == item.key, "an item's name", input);
                require(i == 0 || items[i - 1].key.rank <= item.key.rank, "in order", input);
            }
        }
    }
}

void configurations(std::string_view input) {
    auto number = version_number(input);
    if (number) {
        std::string written = version_name(*number, "0123456789abcdef0123456789abcdef");
        require(version_number(written) == number, "what is written is read", input);
    }
    for (auto layout : {configuration_layout::ready, configuration_layout::versioned}) {
        if (good_part_name(layout, input))
            require(!path_problem("/c/" + std::string(input)), "a part has a node", input);
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
    static_cast<void>(named_twice(lines));
}

void release_requests(std::string_view input) {
    for (std::string_view text : {std::string_view("unlock"), std::string_view("x\ny")}) {
        std::string asked = with_release_request(input, text);
        require(has_release_request(asked, text), "who is asked sees it", input);
        if (!has_release_request(input, text)) {
            require(without_release_request(input, text) == input, "nothing to take away", input);
            require(
                without_release_request(asked, text) == input, "what was there is there", input);
        }
        require(has_release_request(with_release_request(input, text, true), text),
                "in its place, too",
                input);
    }
}

}  // namespace

const std::vector<target>& all_targets() {
    static const std::vector<target> all = {
        {"node_name", node_names},
        {"sequence", sequences},
        {"path", paths},
        {"hosts", host_lists},
        {"limit", limits},
        {"counter", counters},
        {"two_phase_commit", commits},
        {"double_barrier", barriers},
        {"priority_lock", priorities},
        {"queue", queues},
        {"configuration", configurations},
        {"election", elections},
        {"release_request", release_requests},
    };
    return all;
}

const target* target_named(std::string_view name) {
    for (const target& t : all_targets()) {
        if (t.name == name)
            return &t;
    }
    return nullptr;
}

}  // namespace corozk::fuzz
