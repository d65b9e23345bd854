// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace corozk::bench {

/// A system that offers locks, and what its locks promise.
struct system_kind {
    std::string_view name;
    std::string_view title;
    std::string_view program;  ///< its server; empty: ZooKeeper's, which is there in any case
    std::string_view package;
    bool elects;
    std::string_view order;
    std::string_view token;     ///< for fencing
    std::string_view failover;  ///< whether the lock is still held after the loss of a server
    std::string_view session;   ///< what a client's life is measured by
};

std::span<const system_kind> all_systems();

/// @throws std::logic_error if there is none of this name
const system_kind& find_system(std::string_view name);

}  // namespace corozk::bench
