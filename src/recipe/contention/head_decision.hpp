// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace corozk::detail {

/// A contender that had no node ahead, and was deleted.
struct past_contender {
    std::int32_t sequence = 0;
    std::int64_t czxid = 0;
};

/// Whether a contender that was created after `gone` had no node ahead, either.
///
/// Below the same parent, consecutive sequences prove that. Below a re-created one, its sequence
/// would require as many creations, each in a separate transaction, besides the deletion of `gone`
/// and of the old parent and the creation of the new one: too many to fit between the two. (No
/// client creates several contenders of a queue in one transaction.)
bool right_behind(const past_contender& gone, std::int32_t sequence, std::int64_t czxid) noexcept;

/// The state of the first waiter.
struct head_state {
    bool connected = false;           ///< connected with its session
    bool blocked = false;             ///< by nodes that are not known to be deleted
    bool blocked_by_local = false;    ///< some of them are local, with notification
    bool blocked_by_leaving = false;  ///< all of them are local and being deleted
    bool covered = false;    ///< everything ahead is known: a listing, or consecutive sequences
    bool listing = false;    ///< the contenders are being listed
    bool stale = false;      ///< changes since the listing are possible
    bool proved = false;     ///< its node exists, and its deletion would be reported
    bool patient = false;    ///< its turn may come so soon, with a proof, that none is needed now
    bool announced = false;  ///< its turn was announced
};

enum class head_step : std::uint8_t {
    wait,   ///< for a local event, or for the watches on its blockers
    look,   ///< list the contenders
    prove,  ///< read and watch its node
    grant,
};

head_step decide(const head_state& s) noexcept;

enum class try_step : std::uint8_t {
    wait,    ///< for local nodes being deleted: no other contender blocks it
    look,    ///< the knowledge of remote contenders may be outdated
    refuse,  ///< there is another holder or waiter
};

/// The decision on a blocked contender with `try_only`.
///
/// @param listed whether it was in a listing, which is then more recent than its creation
try_step decide_try(const head_state& s, bool listed) noexcept;

}  // namespace corozk::detail
