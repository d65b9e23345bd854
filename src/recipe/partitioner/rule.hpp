// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::detail {

// Partitioning a set of resources among members. Below the recipe's node are an ephemeral node for
// each member (`members`), the queue of those who may decide (`decider`), and a lock for each
// resource (`locks`). The data of the recipe's node is the decision: which member is to have what.
//
//  1. A member has a resource only while it holds its lock. So no two have it at any time, whatever
//     was decided, and by whom: the decision is a wish, the lock is the proof.
//  2. The member at the head of the queue decides, and no other one writes: its transaction checks
//     its node there, and the version of the decision that it is based on. So each decision
//     continues the one before, and each resource has one member in it.
//  3. A decision differs from the one before by as few resources as it takes to give each resource
//     to a member, to none more than one more than to any other.
//  4. A member asks for the lock of a resource when it learns that it is to have it, and waits until
//     the one before has released it, or its session has ended. It stops waiting when it learns that
//     it is not to have it any more. What it holds it gives back only by its user's hand. It asks for
//     nothing while its node is not there: then another session may be the member of its name.
//  5. What the user was once asked to give back is given back: should it be decided to be the
//     member's again, it is granted again. So what it was granted is named once more: as lost, or to
//     be given back, and what is lost after that is reported by its ownership only.
//  6. A crash leaves ephemeral nodes only, which go with the session, and the decision, which goes
//     with the recipe's node once that has no children. A member that comes back under its name
//     before anything else was decided gets what it had.
//  7. A change of the members costs the decider a listing and a transaction, and each member a read
//     of the decision. Only who waits for a lock is notified of its release.

/// The resources of each member, sorted; members without any are there, too.
using assignment = std::map<std::string, std::vector<std::string>, std::less<>>;

/// The next decision, see 3.
///
/// @param members   nobody twice
/// @param resources sorted, nothing twice
assignment assign(const assignment& before,
                  const std::vector<std::string>& members,
                  const std::vector<std::string>& resources);

/// The form of a decision at the server: a first line that says what it is, then a line for each
/// member, with tabs between its name and its resources. Names of nodes contain neither.
std::string write_assignment(const assignment& decided);

/// Nothing if it is none. No data at all is the first one, in which nobody has anything. A resource
/// that is there twice belongs to the first of its members.
std::optional<assignment> read_assignment(std::string_view data);

/// What a member knows of one resource.
struct claim_view {
    bool wanted = false;     ///< decided to be its own
    bool session = false;    ///< nodes can be created in the session, which has the member's
    bool asked = false;      ///< it has a contender for the lock, whose node may exist
    bool failed = false;     ///< ... which is leaving
    bool delivered = false;  ///< ... which was granted, and the user has it
    bool revoked = false;    ///< ... and was asked to give it back
};

enum class claim_step : std::uint8_t {
    wait,
    ask,       ///< for the lock
    withdraw,  ///< nobody has seen it yet: gives it back, or stops waiting
    revoke,    ///< asks the user to give it back
};

claim_step decide(const claim_view& v) noexcept;

}  // namespace corozk::detail
