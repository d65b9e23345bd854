// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::detail {

// The invariants of a contention queue:
//
//  1. A contender is granted only if, at one moment of the server's history after its creation, its
//     node existed, belonged to the current session, and no node ahead of it blocked it. This
//     remains true afterwards: as sequences only increase, nodes ahead are only deleted, or
//     replaced by others that block less (10).
//  2. The nodes ahead of a contender when it was listed, except those known to be deleted, include
//     all nodes that are ahead of it now, or their predecessors that block more (10). If none of
//     them blocks it, it is not blocked.
//  3. There is no node between two local contenders with consecutive sequences, provided that the
//     first one still existed when the second one was created, as sequences restart when the parent
//     is re-created. That is certain if the first one blocks the second one and this client deletes
//     it, if a watch on it has not fired when the response to the create of the second one arrives,
//     and as in 6. If another client has deleted it, all conclusions of this kind are void.
//  4. A contender whose node may still exist blocks those behind it, whether it is waiting,
//     holding, releasing or abandoned.
//  5. The existence of a contender's node is proved by a watch on it that has not fired, by a
//     listing, by a release ahead of it whose transaction checks it, or by its own creation. The
//     last three are valid for that moment only.
//  6. As 3, for the successor of a contender that had no node ahead and was deleted, if there were
//     too few transactions since for a re-created parent to have reached this sequence
//     (`right_behind`).
//  7. The first local waiter always has a watch on, or a local notification for, every member of a
//     set of nodes that blocks it.
//  8. A holder that deletes its node announces the turn of its successor: in the same transaction
//     it creates and deletes a node named after the successor, on which only that one has a watch
//     and which no other client creates. It does so only if by 2 no other node blocks the
//     successor, and the transaction fails unless the successor's node exists. So the event is
//     sufficient for 1. There is one such node per transaction, on which 6 relies.
//  9. Entries without a sequence are ahead of all others and can be created at any time. Where they
//     count, 1 holds only as long as new contenders are kept out otherwise (by a gate). As the
//     server counts their creation, too, 3 and 6 still hold.
// 10. A holder may replace its node, in one transaction, by one that blocks no contender that the
//     old one did not block. The rule determines for which nodes this is possible
//     (`can_be_converted`). If such a node was deleted, its place counts as occupied until a
//     listing shows its state.
// 11. If the rule needs the limit stored in the parent's data, no decision is based on an outdated
//     one, and an announcement (8) fails if the limit has changed since the decision.

inline constexpr std::int64_t no_order = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t ahead_of_all = no_order + 1;

/// A place in a queue, as seen by a rule.
struct contention_entry {
    std::int64_t order = 0;          ///< the sequence number, without wrap-around
    std::int64_t except = no_order;  ///< the place that this one replaces
    std::int32_t weight = 1;
    std::uint8_t kind = 0;
};

using contention_entries = std::vector<contention_entry>;

/// The entries ahead of a contender, the nearest first.
class ahead_of {
public:
    virtual const contention_entry* next() = 0;

    std::int32_t limit = 0;  ///< the limit, if the rule needs it

protected:
    ~ahead_of() = default;
};

/// A range of entries in a queue.
struct blocking_range {
    std::size_t first = 0;
    std::size_t count = 0;
};

/// A recipe's conflict relation. `blockers` returns the nearest entries that together are
/// sufficient to block a contender, or none if it is not blocked. While all of them exist, nothing
/// needs to be read again.
class contention_rule {
public:
    virtual void blockers(ahead_of& ahead,
                          const contention_entry& me,
                          std::vector<const contention_entry*>& out) const = 0;

    /// For all entries of a queue: a range that ends with the nearest blocker. With a limit these are
    /// `blockers`; otherwise all entries that block the contender, except those for which the first of
    /// them waits. Constant time per entry.
    virtual std::vector<blocking_range> blocking_ranges(const contention_entries& queue,
                                                        std::int32_t limit) const = 0;

    /// Whether `me` can be granted because the entry directly ahead was or is being granted. Avoids
    /// a call of `blockers`.
    virtual bool follows(const contention_entry& /*granted*/,
                         const contention_entry& /*me*/) const {
        return false;
    }

    /// Whether an entry ahead waits for the one that `me` replaces, so that neither could ever be
    /// granted.
    virtual bool hopeless(ahead_of& /*ahead*/, const contention_entry& /*me*/) const {
        return false;
    }

    /// Whether the holder of `entry` may replace it by a node that blocks less.
    virtual bool can_be_converted(const contention_entry& /*entry*/) const { return false; }

protected:
    ~contention_rule() = default;
};

/// The exclusive lock: the first contender holds it. Each one waits for its predecessor, so that a
/// release wakes a single contender. (Recipes page, "Locks".)
class exclusive_rule final : public contention_rule {
public:
    void blockers(ahead_of& ahead,
                  const contention_entry& me,
                  std::vector<const contention_entry*>& out) const override;
    std::vector<blocking_range> blocking_ranges(const contention_entries& queue,
                                                std::int32_t limit) const override;
};

inline constexpr exclusive_rule the_exclusive_rule{};

/// Whether the removal of an entry ahead makes it a contender's turn.
///
/// @param before the entries ahead now
/// @param after  the entries ahead after the removal
bool is_next(const contention_rule& rule,
             ahead_of& before,
             ahead_of& after,
             const contention_entry& me);

/// Whether a single entry is sufficient to block `me`.
bool blocks(const contention_rule& rule,
            const contention_entry& ahead,
            const contention_entry& me,
            std::int32_t limit,
            std::vector<const contention_entry*>& scratch);

/// The name of the node that announces a contender's turn.
std::string announcement_of(std::string_view contender);

}  // namespace corozk::detail
