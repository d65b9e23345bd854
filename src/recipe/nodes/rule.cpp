// SPDX-License-Identifier: Apache-2.0
#include "recipe/nodes/rule.hpp"

#include "operation/path.hpp"

namespace corozk::detail {

namespace {

/// Of a member's node.
constexpr std::string_view suffix_of(compatibility whose) noexcept {
    return whose == compatibility::kazoo ? "__party__" : "";
}

}  // namespace

std::string member_node(compatibility whose, std::string_view name) {
    return std::string(name).append(suffix_of(whose));
}

std::optional<std::string_view> member_of_node(compatibility whose,
                                               std::string_view node) noexcept {
    const std::string_view suffix = suffix_of(whose);
    if (!node.ends_with(suffix) || node.size() == suffix.size())
        return std::nullopt;
    node.remove_suffix(suffix.size());
    return node;
}

member_info describe_member(const std::string& name, const node_view& view) {
    member_info member(name, view.data);
    member.session_id = session_of(view.stat);
    member.incarnation = view.stat.czxid;
    return member;
}

membership_change compute_change(const member_map& known, const member_map& current) {
    membership_change change;
    for (const auto& [name, before] : known) {
        auto now = current.find(name);
        if (now == current.end() || now->second.incarnation != before.incarnation)
            change.left.push_back(before);
    }
    for (const auto& [name, now] : current) {
        auto before = known.find(name);
        if (before == known.end() || before->second.incarnation != now.incarnation)
            change.joined.push_back(now);
        else if (before->second.data != now.data)
            change.updated.push_back(now);
    }
    return change;
}

std::optional<std::string> name_path(std::string_view root, std::string_view name) {
    if (path_problem(root) || name.empty() || name.front() == '/')
        return std::nullopt;
    std::string path = join_path(root, name);
    if (path_problem(path))
        return std::nullopt;
    return path;
}

name_entry describe_name(std::string_view name, const node_view& view) {
    name_entry entry;
    entry.name = name;
    if (!view.present || view.data.empty())
        return entry;
    entry.present = true;
    entry.value = view.data;
    entry.session_id = session_of(view.stat);
    return entry;
}

register_step decide_register(const node_view& found,
                              std::string_view value,
                              bool replace) noexcept {
    // A parent is deleted with its last name, and a session-bound name with its session: neither
    // can be replaced.
    if (found.data.empty() || session_of(found.stat) != 0)
        return register_step::taken;
    if (found.data == value)
        return register_step::done;
    return replace ? register_step::replace : register_step::taken;
}

rendezvous_point describe_point(const node_view& view) {
    rendezvous_point point;
    if (!view.present)
        return point;
    point.present = true;
    point.data = view.data;
    point.session_id = session_of(view.stat);
    point.incarnation = view.stat.czxid;
    return point;
}

}  // namespace corozk::detail
