// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/name_list.hpp"
#include "recipe/contention/node_name.hpp"
#include "recipe/toolkit/sequence_end.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::detail {

// The double barrier.
//
// Nodes:
//   <path>      the record of the last round that started: its number, its size, and the sequence
//               number of its last member. Empty before the first round.
//   <path>/<guid>-member-<sequence>   an ephemeral node per member. The first half of the guid
//               identifies the participant, the second half is random for each node.
//
// The record replaces the page's `ready` node. It identifies its round and need not be deleted: a
// record whose members have left admits no one. (A persistent `ready` child that outlives its round
// would let the next one pass at once. A child named `ready` is ignored here.)
//
// The rule, by sequence number s and the record's `last`:
//   * s <= last: inside, a member of a round that has started, for as long as its node exists;
//   * s > last: waiting.
// If no member is inside and N are waiting, a round is started by a transaction that replaces the
// record, at the version that was read, and checks that each of the N nodes exists. So a round has
// exactly N members that all existed at its start. A participant that enters again in a new
// session, while the server still has the node of the old one, counts once: only the last one of
// its waiting nodes does. If a member gives up, its node is deleted in the background; if a round
// starts before that, the member counts as having left. A node whose number is in no order
// (`sequence_spent`) does not count, and its member is refused; so are the others if they are too
// few: those that a later number would complete. Then the parent is replaced.
//
// Watches:
//   * A waiting member watches the record. It lists the members only if there are enough children;
//     while others are inside it watches the lowest of them, as a leaving member does.
//   * Leaving members, except the lowest, delete their nodes and watch the lowest, which watches
//     the highest and leaves last. So each deletion wakes one process, and the last one all.
//     Members have left when none with s <= last exists, which is checked after each event, or when
//     <path> was re-created (czxid), because its children were deleted before.

struct round_record {
    std::uint64_t round = 0;  ///< 0: none has started
    std::uint32_t size = 0;
    std::int32_t last = 0;

    friend bool operator==(const round_record&, const round_record&) = default;
};

/// Parses the barrier node's data; nothing if it was not written by this recipe. Empty: round 0.
std::optional<round_record> parse_round(std::string_view data);
std::string format_round(const round_record& record);

/// A guid for a participant's next node: the first half of `participant`, the second of `random`.
std::string member_guid(std::string_view participant, std::string_view random);

/// The name of a member's node without its sequence number.
std::string member_prefix(std::string_view guid);

/// The sequence number in a member's name; nothing for other names.
std::optional<std::int32_t> parse_member(std::string_view name);

/// Whether a member with this sequence number belongs to a round that has started.
constexpr bool is_inside(const round_record& record, std::int32_t sequence) noexcept {
    return record.round != 0 && !sequence_spent(sequence) && sequence <= record.last;
}

struct barrier_member {
    std::string_view name;
    std::int32_t sequence = 0;
};

/// A listing of the members, sorted by sequence numbers. Borrows the names.
struct barrier_view {
    std::vector<barrier_member> inside;
    std::vector<barrier_member> waiting;  ///< the last node of each participant
    std::vector<barrier_member> others;   ///< nodes of those that wait no longer

    /// Whether the member's node is listed. Its sequence number is not sufficient: numbers restart
    /// when the parent is re-created.
    bool has(const barrier_member& member) const noexcept;
};

barrier_view view_barrier(const name_list& names, const round_record& record);

/// The round that can be started: the first `size` waiting members.
std::optional<round_record> next_round(const barrier_view& view,
                                       const round_record& record,
                                       std::uint32_t size);

/// What leaving members of a client do.
struct leave_plan {
    bool done = false;                      ///< all members have left
    std::set<std::int32_t> erase;           ///< own nodes to delete now
    std::optional<std::string_view> watch;  ///< the node to watch
};

/// @param last the last sequence number of the round to leave
/// @param own the client's leaving members whose nodes still exist
leave_plan plan_leave(const barrier_view& view,
                      std::int32_t last,
                      const std::set<std::int32_t>& own);

}  // namespace corozk::detail
