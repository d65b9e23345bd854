// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/name_list.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace corozk::detail {

// The double barrier of the recipes page, in the format of Curator and Kazoo.
//
// Nodes: <path>/<any name>, an ephemeral node per member, and <path>/ready, a persistent one.
//
// Enter: create the own node, watch `ready`, list. Inside if `ready` exists, if it was created since
// (it may have been deleted again: those who leave do so), or if there are enough members, of whom
// each creates it. Leave: delete `ready`, then as in `plan_page_leave`.
//
//   * `ready` without any member is a remnant of a round whose members died inside: one who enters
//     deletes it, before its own node exists. That harms nobody: members are counted before they
//     wait for `ready`, and get the event of its creation although it is deleted.
//   * `ready` is deleted before the own node, so that it is gone when the round is over, even if
//     others create it again because they count late.
//   * A member uses one name in all sessions until it is inside, so that it counts once.
//   * Who leaves waits for the members that were there when it began: one that is there later has
//     entered again. (Those of Curator and Kazoo wait for these, too.)
//
// The format knows no rounds. A member that arrives while `ready` is there is let in beside those of
// the round, and the number is a threshold, not a limit.

inline constexpr const char* barrier_ready = "ready";

struct page_barrier_view {
    bool ready = false;
    std::vector<std::string> members;  ///< sorted, as the others sort them
};

page_barrier_view view_page_barrier(const name_list& names);

/// Those members of `before` that are still there.
std::vector<std::string> still_members(const std::vector<std::string>& before,
                                       const page_barrier_view& now);

enum class page_leave : std::uint8_t {
    done,
    erase,        ///< delete the own node
    watch_first,  ///< wait until the first member is gone
    watch_last,
};

/// What a leaving member does: the first one leaves last, and waits for the last one; each other
/// one deletes its node, and waits for the first. So each deletion wakes few.
/// @param members sorted
page_leave plan_page_leave(const std::vector<std::string>& members, const std::string& own);

}  // namespace corozk::detail
