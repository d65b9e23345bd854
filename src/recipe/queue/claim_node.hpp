// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/task.hpp"

#include <cstdint>
#include <string>

namespace corozk::detail {

/// The node of a claim: an ephemeral child of the item. All claims have the same name, so that
/// there is one at a time. It is identified by its czxid or, until that is known, by its GUID.
struct claim_node {
    bool is(const stat& read) const noexcept { return read.czxid == record.czxid; }

    /// Reads it after a sync: a server that lags behind would show this claim instead of the next
    /// one.
    /// @return `node_exists`: another claim exists
    task<error_code> find();

    /// If another client deletes a claim, the next one has the same name. Sets the node's version
    /// to the number of claims so far, so that the first consumer cannot end the next one's claim.
    /// @return `no_node`: the claim does not exist any more
    task<error_code> tell_apart(const stat& item);

    /// Deletes it, and no other one.
    /// @return `no_node`, `node_exists`: it does not exist any more
    task<error_code> erase();

    port& owner;
    std::string path;
    std::string guid;
    std::uint64_t generation;
    stat record;
};

}  // namespace corozk::detail
