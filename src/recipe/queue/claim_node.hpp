// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/task.hpp"

#include <cstdint>
#include <string>

namespace corozk::detail {

/// The znode of a claim: an ephemeral child of the item. All claims have the same name, so that there is
/// one at a time. Its czxid says whose it is; its GUID, as long as that is not known.
struct claim_node {
    bool is(const stat& read) const noexcept { return read.czxid == record.czxid; }

    /// Reads it behind a sync: a server that lags behind would show this claim where there is the next.
    /// @return `node_exists`: another claim is there
    task<error_code> find();

    /// If a claim is deleted by another client, the next one has its name. The nodes' versions differ, by
    /// how often the item has been claimed, so that the first consumer cannot end the next one's claim.
    /// @return `no_node`: the claim is not there any more
    task<error_code> tell_apart(const stat& item);

    /// Deletes it, and no other.
    /// @return `no_node`, `node_exists`: it is not there any more
    task<error_code> erase();

    port& owner;
    std::string path;
    std::string guid;
    std::uint64_t generation;
    stat record;
};

}  // namespace corozk::detail
