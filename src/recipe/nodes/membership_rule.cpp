// SPDX-License-Identifier: Apache-2.0
#include "recipe/nodes/membership_rule.hpp"

#include <limits>

namespace corozk::detail {

namespace {

member_info describe(const std::string& name, const member_state& s) {
    member_info m(name, s.data);
    m.session_id = s.owner;
    m.incarnation = s.czxid;
    return m;
}

}  // namespace

bool is_member_node(const stat& record) noexcept {
    constexpr std::int64_t container = std::numeric_limits<std::int64_t>::min();
    // Container and TTL nodes have a marker in the highest byte.
    bool extended = (static_cast<std::uint64_t>(record.ephemeral_owner) >> 56U) == 0xffU;
    return record.ephemeral_owner != 0 && record.ephemeral_owner != container && !extended;
}

membership_change compute_change(const member_map& known, const member_map& current) {
    membership_change change;
    auto before = known.begin();
    auto after = current.begin();
    while (before != known.end() || after != current.end()) {
        if (after == current.end() || (before != known.end() && before->first < after->first)) {
            change.left.push_back(describe(before->first, before->second));
            ++before;
        } else if (before == known.end() || after->first < before->first) {
            change.joined.push_back(describe(after->first, after->second));
            ++after;
        } else {
            if (before->second.czxid != after->second.czxid) {
                change.left.push_back(describe(before->first, before->second));
                change.joined.push_back(describe(after->first, after->second));
            } else if (before->second.data != after->second.data) {
                change.updated.push_back(describe(after->first, after->second));
            }
            ++before;
            ++after;
        }
    }
    return change;
}

}  // namespace corozk::detail
