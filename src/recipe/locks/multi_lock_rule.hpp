// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace corozk::detail {

/// Several locks at once. Invariants:
///
///  1. All participants acquire parts in the order of the paths, so that a participant waiting for
///     a part holds only parts with smaller paths. Hence there is no cycle of waiters: the holder
///     of the largest path in it would have to wait for an even larger one.
///  2. Duplicate paths are rejected before anything is sent: two contenders of one owner at a path
///     can wait for each other if another client's contender is between them.
///  3. Either all parts are delivered, each of them valid at that moment, or none: after the first
///     failure, including the loss of a granted part, all are released.
///  4. A granted part is always owned by the driver, the user, or the background deleter.

/// The indexes of the paths, in the global order.
std::vector<std::size_t> global_order(const std::vector<std::string>& paths);

/// A duplicate path.
std::optional<std::string> named_twice(const std::vector<std::string>& paths);

/// The state of an acquisition.
struct multi_state {
    std::size_t parts = 0;
    std::size_t granted = 0;
    bool over = false;      ///< a part was lost, the call cancelled, or its deadline has passed
    bool all_valid = true;  ///< all granted parts, to the client's knowledge
};

enum class multi_step : std::uint8_t {
    acquire_next,
    wait_for_loss,  ///< a part is invalid, but its loss not reported yet
    roll_back,
    deliver,
};

multi_step decide(const multi_state& s) noexcept;

}  // namespace corozk::detail
