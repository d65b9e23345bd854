// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/name_list.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::detail {

// The double barrier.
//
// At the server:
//   folder      the record of the last round that began: its number, how many members it has, and
//               the sequence number of its last member. Empty before the first round.
//   folder/<guid>-member-<sequence>   an ephemeral node for each member. The first half of the guid
//               is the participant's, the other half new for each node.
//
// The page's `ready` node is this record. It names its round, it is no child and so no member, and
// nobody has to remove it: a record whose members are gone admits nobody. (A persistent `ready`
// child that outlives its round lets the next one pass at once; a child called `ready` is ignored
// here.)
//
// The rule, by sequence number s and the record's `last`:
//   s <= last   inside: a member of a round that has begun. It is inside as long as its node
//   exists. s >  last   waiting.
// A round begins, when nobody is inside and N wait, with one transaction: the record is replaced
// (if its version is still the one that was read) and each of the N nodes still exists. So a round
// has exactly N members that were all there at its beginning, whoever gave up or died just before.
// A participant that comes again in a new session, while the server still keeps the old one and its
// node, counts once: of its nodes that wait only the last one does.
// A member that gives up, at its deadline or otherwise, has its node erased behind it. A round that
// begins before that counts it as a member that has left.
//
// Who looks when:
//   waiting   the record's watch. Only who sees enough children lists them; while others are inside
//             it watches the lowest of them, like one who leaves.
//   leaving   all but the lowest erase their nodes and watch the lowest; the lowest watches the
//             highest and goes last. So one process wakes at each deletion, and all at the last.
//             The end is "nobody with s <= last is left", asked again after each wake-up, or that the
//             folder is not the one of that round any more (czxid): its members went before it did.

struct round_record {
    std::uint64_t round = 0;  ///< 0: none has begun yet
    std::uint32_t size = 0;
    std::int32_t last = 0;

    friend bool operator==(const round_record&, const round_record&) = default;
};

/// The folder's data; nothing if it was not written by this recipe. Empty data is round 0.
std::optional<round_record> parse_round(std::string_view data);
std::string format_round(const round_record& record);

/// A guid for the next node of a participant, who is told by the first half of any guid of its own.
std::string member_guid(std::string_view participant, std::string_view random);

/// The name of a member's node without its sequence number.
std::string member_prefix(std::string_view guid);

/// The sequence number in a member's name; nothing for foreign names.
std::optional<std::int32_t> parse_member(std::string_view name);

/// Order of sequence numbers, which wrap around after 2^31 nodes.
constexpr bool sequence_less(std::int32_t a, std::int32_t b) noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) -
                                     static_cast<std::uint32_t>(b)) < 0;
}

/// Whether a member with this sequence number belongs to a round that has begun.
constexpr bool is_inside(const round_record& record, std::int32_t sequence) noexcept {
    return record.round != 0 && !sequence_less(record.last, sequence);
}

struct barrier_member {
    std::string_view name;
    std::int32_t sequence = 0;
};

/// A listing of the folder, in the order of sequence numbers. Borrows the names.
struct barrier_view {
    std::int32_t origin =
        0;  ///< what they are in order relative to: no pair of them goes by itself
    std::vector<barrier_member> inside;
    std::vector<barrier_member> waiting;  ///< of each participant the last
    std::vector<barrier_member> earlier;  ///< the others that wait

    /// Whether it is among them. A sequence number alone could be another one's: a folder that was
    /// made anew counts from the beginning.
    bool has(const barrier_member& member) const noexcept;
};

barrier_view view_barrier(const name_list& names, const round_record& record);

/// Whether a round can begin now, and which: the first `size` of those who wait.
std::optional<round_record> next_round(const barrier_view& view,
                                       const round_record& record,
                                       std::uint32_t size);

/// Whom a leaving client watches: `own` are those of its nodes that are still there, all leaving.
struct leave_plan {
    bool done = false;                      ///< nobody is left
    std::set<std::int32_t> erase;           ///< of `own`, to be erased now
    std::optional<std::string_view> watch;  ///< whose end to wait for
};

/// @param last the last sequence number of the round that is left
leave_plan plan_leave(const barrier_view& view,
                      std::int32_t last,
                      const std::set<std::int32_t>& own);

}  // namespace corozk::detail
