// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/compatibility.hpp>
#include <corozk/path_list.hpp>
#include <corozk/types.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace corozk {

/** @brief Options of the contenders of a lock, semaphore or election. */
struct contender_options {
    contender_options() = default;
    explicit contender_options(std::string identity_) : identity(std::move(identity_)) {}

    /// Stored in the contender's node and shown by `list_contenders`.
    std::string identity;

    /// ACL of the contenders' nodes and of missing parents. Empty means open to everyone.
    corozk::acl acl;

    /// The names of the contenders' nodes, as documented by the recipe.
    corozk::compatibility compatibility = corozk::compatibility::native;

    /// What `request_release` appends to the data of the holder's node or, with `curator`, replaces
    /// it with. Empty: "unlock", or what Curator's locks expect, "__REVOKE__". Curator's latches
    /// and leases have no such requests: a text that is not empty enables them, among participants
    /// of corozk.
    std::string release_request;
};

/** @brief A holder or waiter of a recipe, as recorded at the server. */
struct contender_info {
    contender_info() = default;

    std::string path;             ///< Its node.
    std::string kind;             ///< Such as "lock", "read" or "write".
    bool holds = false;           ///< Whether it holds, according to the order of the nodes.
    std::int32_t weight = 1;      ///< Number of permits.
    std::int32_t priority = 0;    ///< Lower numbers first; 0 in recipes without priorities.
    std::int32_t sequence = 0;    ///< Sequence number of its node.
    std::int64_t session_id = 0;  ///< The session that owns its node.
    /// See `ownership::fencing_token`. After a downgrade, that of the new node, which is larger
    /// than the ownership's.
    std::int64_t fencing_token = 0;
    std::string data;                             ///< Data of its node.
    std::chrono::system_clock::time_point since;  ///< Creation time, by the server's clock.
    /// The nodes that block it directly; transitive blockers are omitted. It proceeds once all of
    /// them (for permits: enough of them) are gone.
    path_list waits_for;
};

}  // namespace corozk
