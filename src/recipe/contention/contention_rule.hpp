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
//     node existed, belonged to the current session, and nothing ahead of it blocked it. That stays
//     true afterwards: nodes ahead only disappear, because sequences only grow, or give way to
//     others that block less (10).
//  2. What was ahead of a contender when it was listed, less what is known to be gone, contains
//     everything that is ahead of it now, or what blocks more and was there before (10). If none of
//     that blocks it, nothing does.
//  3. Two local contenders with consecutive sequences have nothing between them, as long as the
//     first one still existed when the second one was created: sequences begin again under a parent
//     that was re-created. It did if we delete it ourselves. If it turns out that another client
//     has, nothing that was concluded in this way counts any more.
//  4. A contender whose node may still exist blocks the ones behind it, whether it waits, holds,
//     releases or was abandoned.
//  5. A contender's node is proved to exist by a watch on it that has not fired, by a listing, by a
//     release ahead of it whose transaction checks it, or by its own creation. The last three hold
//     for that moment only.
//  6. The same applies to the one after a contender that had nothing ahead of it and is gone, if
//     there were too few transactions since for a new parent to have come so far (see
//     `right_behind`).
//  7. A contender that cannot be granted although nothing is between is never waited for without a
//     watch on, or a local event of, everything that is needed to block it.
//  8. A holder that deletes its node announces its turn to the one right behind it: in the same
//     transaction it creates and deletes a node named after that one, on which nobody else waits and
//     which nobody else creates. It does so only if what it knows (2) says that nothing ahead blocks
//     the other any more, and the transaction fails unless it finds the other's node. So the event
//     is all that 1 asks for. One such node for each transaction, not more: 6 counts on that.
//  9. Entries without a sequence are ahead of all others, and can come at any time: where they count
//     1 holds only for as long as something else keeps newcomers out (a gate). The server counts
//     their creation as well, so that 3 and 6 hold anyway.
// 10. A holder may put another node in the place of its own, in one transaction: one that blocks
//     nobody whom the old one did not block. Of which nodes that is to be expected the rule says
//     (`can_be_converted`). That such a node is gone does not mean that its place is empty: it
//     counts as there until a listing has shown what is there now.
// 11. Where the rule needs the limit in the parent's data, nothing is concluded from one that is not
//     known any more, and an announcement (8) fails unless the limit is still the one that it was
//     decided by.

inline constexpr std::int64_t no_order = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t ahead_of_all = no_order + 1;

/// One place in a queue, as far as a rule needs to know it.
struct contention_entry {
    std::int64_t order = 0;          ///< the sequence, unwrapped
    std::int64_t except = no_order;  ///< the place that this one is to replace
    std::uint8_t kind = 0;
    std::int32_t weight = 1;
};

using contention_entries = std::vector<contention_entry>;

/// Entries ahead of a contender, the nearest first.
class ahead_of {
public:
    virtual const contention_entry* next() = 0;

    std::int32_t limit = 0;  ///< what the parent's data says, where the rule needs it

protected:
    ~ahead_of() = default;
};

/// Neighbours in a whole queue.
struct blocking_range {
    std::size_t first = 0;
    std::size_t count = 0;
};

/// A recipe's conflict relation: which of the entries ahead block a contender. A rule names the
/// nearest ones that are together enough to block it, and none if it is not blocked: while all of
/// those exist, nothing needs to be read again.
class contention_rule {
public:
    virtual void blockers(ahead_of& ahead,
                          const contention_entry& me,
                          std::vector<const contention_entry*>& out) const = 0;

    /// The same for each entry of a whole queue in which nobody is to replace another one: a range
    /// that ends with the nearest. Takes no longer for the last than for the first.
    virtual std::vector<blocking_range> blocking_ranges(const contention_entries& queue,
                                                        std::int32_t limit) const = 0;

    /// Whether `me` may go because the entry right ahead of it goes or went. Saves the rule a walk.
    virtual bool follows(const contention_entry& granted, const contention_entry& me) const;

    /// Whether something ahead waits for what `me` is to replace: neither could ever go.
    virtual bool hopeless(ahead_of& ahead, const contention_entry& me) const;

    /// Whether the holder of `entry` may put another node, which blocks less, in its place.
    virtual bool can_be_converted(const contention_entry& entry) const;

protected:
    ~contention_rule() = default;
};

/// The exclusive lock: the first one holds it. Each waits for the nearest one ahead, so that a
/// release wakes one contender and no herd. (Recipes page, "Locks".)
class exclusive_rule final : public contention_rule {
public:
    void blockers(ahead_of& ahead,
                  const contention_entry& me,
                  std::vector<const contention_entry*>& out) const override;
    std::vector<blocking_range> blocking_ranges(const contention_entries& queue,
                                                std::int32_t limit) const override;
};

const exclusive_rule& the_exclusive_rule() noexcept;

/// Whether it is a contender's turn when an entry ahead of it goes: not before, but then.
///
/// @param before  what is ahead of it now
/// @param after   what will be left of that
bool is_next(const contention_rule& rule,
             ahead_of& before,
             ahead_of& after,
             const contention_entry& me);

/// Whether one alone blocks `me`: when it is the turn of `me` it is gone.
bool blocks(const contention_rule& rule,
            const contention_entry& ahead,
            const contention_entry& me,
            std::int32_t limit,
            std::vector<const contention_entry*>& scratch);

/// The name of the node that announces a contender's turn, by the contender's own.
std::string announcement_of(std::string_view contender);

}  // namespace corozk::detail
