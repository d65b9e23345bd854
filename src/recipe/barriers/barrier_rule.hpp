// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/error.hpp>

#include <cstdint>

namespace corozk::detail {

// The barrier. Its node exists = closed; it does not = open.
//
// Invariants:
//   * A waiter goes only after the server has said "no node"; an event, a reconnect or a new
//     session makes it ask again and means nothing by itself.
//   * A barrier that was set before `wait` was called counts, whichever server is asked: the first
//     question is behind a sync.
//   * A `set` whose answer was lost knows its node by the guid in it.
//   * A `remove` whose answer was lost erases again only the node it meant (czxid): the barrier
//     that somebody has set meanwhile is another one (toolkit/delete_exact).

enum class barrier_step : std::uint8_t {
    proceed,  ///< no barrier
    wait,     ///< there is one; its watch is set
    fail,     ///< the server refuses to tell
};

/// What the answer to a watching `get` of the barrier node means to a waiter.
barrier_step decide_barrier_wait(const error_code& answer) noexcept;

}  // namespace corozk::detail
