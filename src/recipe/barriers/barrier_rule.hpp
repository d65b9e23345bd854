// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/error.hpp>

#include <cstdint>

namespace corozk::detail {

// The barrier is closed while its node exists.
//
// Invariants:
//   * A waiter proceeds only after a response "no node"; events, reconnects and new sessions merely
//     cause another read.
//   * A barrier that was set before the call of `wait` is seen at any server: the first read
//     follows a sync.
//   * A `set` whose response was lost recognises its node by the guid in it. If that node ends with
//     an earlier session, it is replaced by one of the current session.
//   * A `remove` whose response was lost deletes only the node it read before (czxid), not a
//     barrier that has been set since (`erase_one` in toolkit/background_deleter).

enum class barrier_step : std::uint8_t {
    proceed,  ///< no barrier
    wait,     ///< the barrier and a watch are set
    fail,     ///< permanent error
};

/// What a waiter does after a `get` of the barrier node with a watch.
inline barrier_step decide_barrier_wait(const error_code& answer) noexcept {
    if (!answer)
        return barrier_step::wait;
    return answer == zk_errc::no_node ? barrier_step::proceed : barrier_step::fail;
}

}  // namespace corozk::detail
