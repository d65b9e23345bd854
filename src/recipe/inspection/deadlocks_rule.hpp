// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/recipe/deadlocks_types.hpp>

#include <string>
#include <vector>

namespace corozk::detail {

/// Who waits for whom. What has to hold:
///
///  1. A participant is a session together with what it says of itself.
///  2. A contender that waits is stuck if everybody it waits for is; a participant is stuck if one
///     of its contenders is. Who waits for nobody is not. (Of these sets the largest one: who waits
///     in a circle is stuck.)
///  3. Participants of whom each can be reached from each other one over edges between stuck ones
///     are a deadlock, if there are at least two.
///  4. Nodes are never reused, and who waits for a node waits for it until one of them goes: an
///     edge that is seen at two moments was there all the time. So the edges that are in each of
///     two surveys of all paths, one after the other, were there at once.

/// The contenders of one line.
struct surveyed_queue {
    std::string path;
    std::vector<contender_info> contenders;
};

/// The edges and the deadlocks of one survey.
wait_graph judge(const std::vector<surveyed_queue>& lines);

/// The edges of the later survey, and the deadlocks that were there all the time.
wait_graph judge_twice(const std::vector<surveyed_queue>& earlier,
                       const std::vector<surveyed_queue>& later);

}  // namespace corozk::detail
