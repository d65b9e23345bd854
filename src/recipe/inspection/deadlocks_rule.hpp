// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/recipe/deadlocks_types.hpp>

#include <string>
#include <vector>

namespace corozk::detail {

/// Deadlock detection:
///
///  1. A participant is a session together with an identity. It is also an identity that several
///     sessions have, together: what is a deadlock by either meaning is one. An identity that is an
///     address is Curator's default, and joins nobody.
///  2. A waiting contender is stuck if one of its blockers is or, where it waits for permits, if all
///     are; a participant is stuck if one of its contenders is. (The largest such set: participants
///     that wait in a cycle are stuck.)
///  3. Two or more stuck participants that can reach each other over edges between stuck ones are a
///     deadlock.
///  4. Nodes are never reused, and a contender waits for a node until one of the two is deleted: an
///     edge that exists at two moments existed all the time. So edges that are part of two
///     successive surveys of all paths existed at the same time.

/// The contenders at a path.
struct surveyed_queue {
    std::string path;
    std::vector<contender_info> contenders;
};

/// The edges and the deadlocks of a survey.
wait_graph judge(const std::vector<surveyed_queue>& queues);

/// The edges of the later survey, and the deadlocks that exist in both.
wait_graph judge_twice(const std::vector<surveyed_queue>& earlier,
                       const std::vector<surveyed_queue>& later);

}  // namespace corozk::detail
