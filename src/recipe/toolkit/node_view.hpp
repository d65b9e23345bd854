// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/types.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace corozk::detail {

/// The session that owns an ephemeral node; 0 for others: some servers send a marker of container
/// and TTL nodes in the same field.
constexpr std::int64_t session_of(const corozk::stat& record) noexcept {
    constexpr std::int64_t container = std::numeric_limits<std::int64_t>::min();
    const bool ttl = (static_cast<std::uint64_t>(record.ephemeral_owner) >> 56U) == 0xffU;
    return ttl || record.ephemeral_owner == container ? 0 : record.ephemeral_owner;
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
