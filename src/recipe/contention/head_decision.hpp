// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace corozk::detail {

/// A contender that had nothing ahead of it, and was deleted.
struct past_contender {
    std::int32_t sequence = 0;
    std::int64_t czxid = 0;
};

/// Whether a contender that was created after `gone` had nothing ahead of it, either.
///
/// Under the same parent consecutive sequences say so: nobody came between. Under one that was
/// re-created its sequence would count that many nodes which were created there, each in a
/// transaction of its own, besides the ends of `gone` and of the old parent, and the new parent: too
/// many to fit between the two. (Creating several contenders of one queue in one transaction is no
/// way to queue.)
bool right_behind(const past_contender& gone, std::int32_t sequence, std::int64_t czxid) noexcept;

/// What is known of the first contender that waits.
struct head_state {
    bool connected = false;           ///< its session goes on
    bool blocked = false;             ///< by something that is not known to be gone
    bool blocked_by_local = false;    ///< some of it is ours, and its end will be noticed
    bool blocked_by_leaving = false;  ///< all of it is ours, and being deleted
    bool covered = false;    ///< everything ahead is known: a listing, or consecutive sequences
    bool stale = false;      ///< something may have happened since the listing
    bool proved = false;     ///< its own node was seen, and its end would have been noticed
    bool patient = false;    ///< it may be its turn so soon that a proof would come with that
    bool announced = false;  ///< the one ahead of it said so when it left
};

enum class head_step : std::uint8_t {
    wait,   ///< for a local event, or for the watches on what blocks it
    look,   ///< list the contenders
    prove,  ///< read the own node and leave a watch
    grant,
};

head_step decide(const head_state& s) noexcept;

enum class try_step : std::uint8_t {
    wait,    ///< for what is ours and being deleted: nobody else has it
    look,    ///< what was known of others before it came may be out of date
    refuse,  ///< another contender has it, or waits for it
};

/// What becomes of one that is blocked and would rather not wait.
///
/// @param listed  whether it was in a listing, so that what is known of others is younger than it
try_step decide_try(const head_state& s, bool listed) noexcept;

}  // namespace corozk::detail
