// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "move.hpp"

#include <cstddef>
#include <stdexcept>
#include <vector>

namespace corozk::schedule {

class stage;

/// Thrown by a chooser for whom the moves are not what they were.
class not_this_schedule : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// Says what happens next.
class chooser {
public:
    chooser() = default;
    chooser(const chooser&) = delete;
    chooser& operator=(const chooser&) = delete;
    virtual ~chooser() = default;

    /// @return an index, or moves.size(): enough of this schedule
    virtual std::size_t choose(stage& s, const std::vector<move>& moves) = 0;

    /// Nothing is chosen from here on. @return whether it is to be played
    virtual bool look_at_the_rest(stage&) { return true; }

    /// Everybody has done what they do. @return whether what comes of it is to be looked at
    virtual bool look_at_the_end(stage&) { return true; }
};

}  // namespace corozk::schedule
