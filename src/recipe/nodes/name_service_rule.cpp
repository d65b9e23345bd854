// SPDX-License-Identifier: Apache-2.0
#include "recipe/nodes/name_service_rule.hpp"

#include "operation/path.hpp"

namespace corozk::detail {

std::optional<std::string> name_path(std::string_view root, std::string_view name) {
    if (name.empty() || name.front() == '/')
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
    // TTL nodes have a marker in the highest byte instead of an owner.
    bool ttl = (static_cast<std::uint64_t>(view.stat.ephemeral_owner) >> 56U) == 0xffU;
    if (view.stat.ephemeral_owner != 0 && !ttl) {
        entry.lifetime = name_lifetime::session;
        entry.session_id = view.stat.ephemeral_owner;
    }
    return entry;
}

register_step decide_register(const node_view& found,
                              std::string_view value,
                              bool replace) noexcept {
    // A parent is deleted with its last name, and a session-bound name with its session: neither
    // can be replaced.
    if (found.data.empty() || found.stat.ephemeral_owner != 0)
        return register_step::taken;
    if (found.data == value)
        return register_step::done;
    return replace ? register_step::replace : register_step::taken;
}

}  // namespace corozk::detail
