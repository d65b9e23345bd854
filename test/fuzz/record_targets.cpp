// SPDX-License-Identifier: Apache-2.0
// What stands in nodes' data: counters, transactions; and the folders of configurations.
#include "checks.hpp"
#include "operation/name_list.hpp"
#include "operation/path.hpp"
#include "recipe/configuration/rule.hpp"
#include "recipe/counter/rule.hpp"
#include "recipe/discovery/format.hpp"
#include "recipe/discovery/server_set.hpp"
#include "recipe/partitioner/rule.hpp"
#include "recipe/two_phase_commit/rule.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string>

namespace corozk::fuzz {

using namespace corozk::detail;

namespace {

/// An update of this record, and what is made of it when its answer was lost.
void update_counter(const counter_record& base, std::string_view input) {
    constexpr std::uint64_t highest = std::numeric_limits<std::int64_t>::max();
    for (std::size_t places : {0u, 1u, 2u, 64u}) {
        counter_attempt attempt;
        attempt.base = base;
        attempt.writer = "0123456789abcdef";
        attempt.operation = 7;
        attempt.result = advance(base, base.value, attempt.writer, attempt.operation, places);
        const counter_record& next = attempt.result;
        require(next.revision == base.revision + 1, "one more revision", input);
        require(next.forgotten >= base.forgotten, "what is forgotten stays so", input);
        bool known = next.writers.size() == base.writers.size() &&
                     std::equal(next.writers.begin(),
                                next.writers.end(),
                                base.writers.begin(),
                                [](const auto& a, const auto& b) { return a.name == b.name; });
        require(known || next.writers.size() <= std::max<std::size_t>(places, 1), "places", input);
        auto own = std::find_if(next.writers.begin(), next.writers.end(), [&](const auto& w) {
            return w.name == attempt.writer;
        });
        require(own != next.writers.end() && own->revision == next.revision, "it is in", input);
        auto again =
            parse_counter(counter_format::native, print_counter(counter_format::native, next));
        require(again || base.revision == highest, "what is written is read", input);
        auto verdict = [&](const counter_record& seen) {
            corozk::stat stat;
            stat.version = static_cast<std::int32_t>(seen.revision - base.revision);
            return judge(counter_format::native, attempt, seen, stat);
        };
        require(verdict(base) == counter_verdict::pending, "nothing has happened yet", input);
        require(verdict(next) == counter_verdict::applied, "it has happened", input);
        counter_record newer = base;
        newer.revision = next.revision;
        newer.forgotten = 0;
        if (std::none_of(newer.writers.begin(), newer.writers.end(), [&](const auto& w) {
                return w.name == attempt.writer;
            })) {
            require(verdict(newer) == counter_verdict::not_applied, "others were faster", input);
        }
        newer.identity += "0";
        require(verdict(newer) == counter_verdict::unknown, "another node", input);
    }
}

void clean_up(const commit_header& header, std::string_view input) {
    name_list children;
    std::set<std::string> distinct;
    std::size_t kept = 0;
    bool identified = false;
    const std::string identity = "id-" + header.guid;
    for (const std::string& line : lines_of(header.payload)) {
        children.push_back(line);
        identified = identified || line == identity;
        const bool once = distinct.insert(line).second;
        kept += once && (line == identity || line == "decision") ? 1 : 0;
    }
    commit_leftovers found = sort_leftovers("/tx", header, children);
    require(found.identified == identified, "its identity is seen", input);
    require(found.acknowledgements.size() + found.others.size() + kept == distinct.size(),
            "each child once",
            input);
    for (const std::string& path : found.acknowledgements) {
        require(
            std::any_of(header.sites.begin(),
                        header.sites.end(),
                        [&](const std::string& site) { return path == done_node("/tx", site); }),
            "only sites acknowledge",
            input);
    }
}

void remove_versions(const std::vector<std::string>& names, std::string_view input) {
    const std::string& current = names.front();
    const std::vector<std::string> in_use{names.back()};
    auto all = outdated_versions(names, current, in_use, 0);
    const auto present = version_number(current);
    const auto older = static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const std::string& name) {
            return !present || *version_number(name) < *present;
        }));
    for (std::size_t keep : {0u, 1u, 3u}) {
        auto outdated = outdated_versions(names, current, in_use, keep);
        require(outdated.size() == all.size() - std::min(keep, older), "some are kept", input);
        for (std::size_t i = 0; i < outdated.size(); ++i) {
            const std::string& name = outdated[i];
            require(version_number(name).has_value(), "only versions", input);
            require(name != current && name != in_use.front(), "nobody's any more", input);
            require(i == 0 || *version_number(outdated[i - 1]) >= *version_number(name),
                    "the newest are kept",
                    input);
        }
    }
}

/// By any decision, however it was written, the next one is whole and balanced.
void assign_again(const assignment& before, std::string_view input) {
    std::vector<std::string> members{"new"};
    std::set<std::string> all{"new"};
    for (const auto& [member, share] : before) {
        if (members.size() < 5 && member != "new")
            members.push_back(member);
        all.insert(share.begin(), share.end());
    }
    const std::vector<std::string> resources(all.begin(), all.end());
    const assignment now = assign(before, members, resources);
    require(now.size() == members.size(), "each member is there", input);
    std::size_t given = 0;
    for (const auto& [member, share] : now) {
        const std::size_t least = resources.size() / members.size();
        require(share.size() == least || share.size() == least + 1, "balanced", input);
        for (const std::string& resource : share)
            require(all.erase(resource) == 1, "one member each", input);
        given += share.size();
    }
    require(given == resources.size(), "all of them", input);
    require(assign(now, members, resources) == now, "nothing changes without a reason", input);
    require(read_assignment(write_assignment(now)) == now, "what is written is read", input);
}

}  // namespace

void partitions(std::string_view input) {
    auto decided = read_assignment(input);
    if (!decided)
        return;
    require(read_assignment(write_assignment(*decided)) == decided, "read as written", input);
    assign_again(*decided, input);
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
        if (format == counter_format::native)
            update_counter(*record, input);
    }
}

void commits(std::string_view input) {
    if (auto header = parse_header(input)) {
        require(sites_are_good(header->sites), "sites are good", input);
        require(format_header(*header) == input, "nothing but what is written is read", input);
        require(!path_problem(identity_node("/tx", header->guid)), "it has an identity", input);
        for (const std::string& site : header->sites)
            require(!path_problem(site_node("/tx", site)), "a site has a node", input);
        clean_up(*header, input);
    }
    if (auto decision = parse_decision(input)) {
        require(format_decision(decision->outcome, decision->guid) == input,
                "nothing but what is written is read",
                input);
    }
    site_state vote = read_vote(input);
    require((vote == site_state::silent) == input.empty(), "no vote yet", input);
    require((vote == site_state::commit) == (input == format_vote(commit_vote::commit)) &&
                (vote == site_state::abort) == (input == format_vote(commit_vote::abort)),
            "a vote as it is written",
            input);
    static_cast<void>(sites_are_good(lines_of(input)));
}

void configurations(std::string_view input) {
    auto number = version_number(input);
    if (number) {
        std::string written = version_name(*number, "0123456789abcdef0123456789abcdef");
        require(version_number(written) == number, "what is written is read", input);
        require(good_part_name(configuration_layout::versioned, input), "a node's name", input);
        require(!path_problem("/c/versions/" + std::string(input)), "and its path", input);
    }
    for (auto layout : {configuration_layout::ready, configuration_layout::versioned}) {
        if (good_part_name(layout, input))
            require(!path_problem("/c/" + std::string(input)), "a part has a node", input);
    }
    remove_versions(lines_of(input), input);
}

void service_instances(std::string_view input) {
    auto instance = read_instance("web", "a", input);
    if (!instance)
        return;
    auto data = write_instance(*instance);
    require(data.has_value(), "what is read is written", input);
    auto again = read_instance("web", "b", *data);
    require(again.has_value(), "and read again", input);
    require(again->uri() == instance->uri(), "with the same URI", input);
    // Blanks in its variables are no part of them; numbers may be rounded.
    again->uri_spec = instance->uri_spec;
    again->payload = instance->payload;
    again->node = instance->node;
    require(*again == *instance, "and the same", input);
}

void server_set_members(std::string_view input) {
    std::string node = member_node(input);
    require(is_member_node(node), "an id has a node", input);
    require(member_node(node) == node, "whose name stands for itself", input);
    auto instance = read_member("web", "member_1", input);
    if (!instance)
        return;
    require(instance->address.empty() == !instance->port, "an endpoint, or none", input);
    // One without it is not written.
    if (!instance->port) {
        instance->address = "h";
        instance->port = 1;
    }
    auto data = write_member(*instance);
    require(data.has_value(), "what is read is written", input);
    auto again = read_member("web", "member_1", *data);
    require(again.has_value(), "and read again", input);
    require(*again == *instance, "and the same", input);
}

}  // namespace corozk::fuzz
