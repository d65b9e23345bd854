// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace corozk::detail {

/// Several locks at once. What has to hold:
///
///  1. All participants acquire in the same order, that of the paths, in whatever order they name
///     them: who waits for a part holds only parts with smaller paths. In a circle of waiters the
///     one that waits for the largest path would be waited for by somebody who wants a smaller one
///     and holds a larger one: there is none. So there is no circle.
///  2. No path is named twice: two contenders of one owner in one queue can wait for each other,
///     with a stranger between them. It is refused before anything is asked for.
///  3. Either all parts are delivered, and each of them was valid at that moment, or none: after
///     the first failure, a loss of a part that was granted before included, everything is given
///     back.
///  4. Whatever comes, what was granted belongs to somebody: to the driver, to the user, or to the
///     janitor.

/// The indexes of the paths, in the global order.
std::vector<std::size_t> global_order(const std::vector<std::string>& paths);

/// A path that is there more than once.
std::optional<std::string> named_twice(const std::vector<std::string>& paths);

/// What is known of an acquisition of several parts.
struct multi_state {
    std::size_t parts = 0;
    std::size_t granted = 0;
    bool failed = false;    ///< a part was refused, or one that was granted has been lost
    bool over = false;      ///< nobody waits any more, or the deadline has passed
    bool all_valid = true;  ///< those that were granted, as far as anybody can know
};

enum class multi_step : std::uint8_t {
    acquire_next,
    wait_for_loss,  ///< something has been lost; what, is about to be told
    roll_back,
    deliver,
};

multi_step decide(const multi_state& s) noexcept;

}  // namespace corozk::detail
