// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/inspection.hpp"

#include "operation/path.hpp"
#include "recipe/contention/limit.hpp"
#include "recipe/contention/release_request.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/read_children.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace corozk::detail {

namespace {

/// Determines holders and blockers, as ranges of one list that begins with the last contender.
void judge_queue(const contention_rule& rule,
                 const std::vector<contention_entry>& entries,
                 contention_survey& found) {
    const std::size_t count = entries.size();
    std::vector<std::string> paths(count);
    for (std::size_t i = 0; i < count; ++i)
        paths[count - 1 - i] = found.contenders[i].path;
    const auto all = std::make_shared<const std::vector<std::string>>(std::move(paths));
    const std::vector<blocking_range> blocking = rule.blocking_ranges(entries, found.limit);
    for (std::size_t i = 0; i < count; ++i) {
        const blocking_range& section = blocking[i];
        contender_info& c = found.contenders[i];
        c.holds = section.count == 0;
        if (!c.holds)
            c.waits_for = path_list(all, count - section.first - section.count, section.count);
    }
}

}  // namespace

contender_info info_of(std::string_view name,
                       const node_view& node,
                       const contention_settings& settings) {
    contender_info info;
    info.path = join_path(settings.parent, name);
    info.session_id = node.stat.ephemeral_owner;
    info.fencing_token = node.stat.czxid;
    info.data = without_release_request(node.data, settings.release_request, node.stat.version);
    info.since = std::chrono::system_clock::time_point(std::chrono::milliseconds(node.stat.ctime));
    return info;
}

task<error_code> survey(port& p,
                        const contention_settings& settings,
                        const std::vector<std::string>& kinds,
                        contention_survey& found) {
    auto ours = [&settings](std::string_view name) { return bool(settings.names.parse(name)); };
    std::map<std::string, node_view> nodes;
    error_code ec = co_await read_children(p, settings.parent, nodes, ours);
    found.limit = std::max(settings.initial_limit, settings.fixed_limit);
    if (!ec && settings.initial_limit > 0) {
        request parent(p, op_code::get, settings.parent);
        ec = co_await read_forward(p, parent);
        auto limit = parse_limit(parent.answer);
        if (limit)
            found.limit = *limit;
        else if (!ec && !parent.answer.empty())
            ec = errc::foreign_data;
    }
    // The parent does not exist: there are no contenders.
    if (ec)
        co_return ec == zk_errc::no_node ? error_code() : ec;
    std::vector<std::pair<contention_entry, contender_info>> places;
    std::optional<std::int32_t> origin;
    for (const auto& [node_name, node] : nodes) {
        auto name = settings.names.parse(node_name);
        contender_info info = info_of(node_name, node, settings);
        info.kind = name->kind < kinds.size() ? kinds[name->kind] : std::string();
        info.sequence = name->sequence;
        info.weight = name->weight;
        if (name->ordered && !origin)
            origin = name->sequence;
        contention_entry place;
        place.order = name->ordered ? sequence_distance(*origin, name->sequence) : ahead_of_all;
        place.kind = name->kind;
        place.weight = name->weight;
        places.emplace_back(place, std::move(info));
    }
    std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) {
        return std::pair(a.first.order, a.second.fencing_token) <
               std::pair(b.first.order, b.second.fencing_token);
    });
    std::vector<contention_entry> entries;
    for (auto& [place, info] : places) {
        entries.push_back(place);
        found.contenders.push_back(std::move(info));
    }
    judge_queue(*settings.rule, entries, found);
    co_return error_code();
}

}  // namespace corozk::detail
