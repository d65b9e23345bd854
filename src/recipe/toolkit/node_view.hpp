// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/types.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace corozk::detail {

/// Whether it is a node with a TTL, which has a marker and the TTL where others have their session.
constexpr bool has_ttl(const corozk::stat& record) noexcept {
    return (static_cast<std::uint64_t>(record.ephemeral_owner) >> 56U) == 0xffU;
}

/// The session that owns an ephemeral node; 0 for others: container and TTL nodes have a marker in
/// the same field.
constexpr std::int64_t session_of(const corozk::stat& record) noexcept {
    constexpr std::int64_t container = std::numeric_limits<std::int64_t>::min();
    return has_ttl(record) || record.ephemeral_owner == container ? 0 : record.ephemeral_owner;
}

/// A snapshot of a node.
struct node_view {
    node_view() = default;
    node_view(const corozk::stat& stat_, std::string data_)
        : present(true), stat(stat_), data(std::move(data_)) {}

    bool present = false;
    corozk::stat stat;
    std::string data;

    /// Whether node, data or existence differ. Identical data that was written again, as after a
    /// lost response, is not a difference.
    bool differs(const node_view& other) const noexcept {
        if (present != other.present)
            return true;
        return present && (stat.czxid != other.stat.czxid || data != other.data);
    }
};

}  // namespace corozk::detail
