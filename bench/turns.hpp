// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <list>

namespace corozk::bench {

/// Who holds a lock, as those see it who were told that they do: checks every grant, and knows
/// which release made it possible.
class turns {
public:
    turns() = default;

    /// At most so many may share it; 0: any number.
    explicit turns(std::size_t permits) : permits_(permits) {}

    /// Right before a release is asked for.
    void released(bool shared, clock::time_point now);

    /// Somebody holds it now. @return when the release was asked for that let it in.
    /// @throws std::logic_error if it must not have been granted
    clock::time_point granted(bool shared, std::int64_t token);

private:
    std::size_t permits_ = 0;
    std::size_t sharing_ = 0;
    bool exclusive_ = false;
    std::int64_t largest_token_ = 0;    ///< of all
    std::int64_t exclusive_token_ = 0;  ///< of those that did not share
    clock::time_point last_release_{};
    clock::time_point last_exclusive_release_{};
    std::list<clock::time_point> free_permits_;  ///< since when
};

}  // namespace corozk::bench
