// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"
#include "result.hpp"
#include "systems/lock_client.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <functional>

namespace corozk::bench {

// What is measured of a lock's clients, whoever's they are. Each adds one repetition to the row.

/// Writes, and acquire + release that nobody disturbs.
boost::asio::awaitable<void> measure_cycles(job& j,
                                            const lock_wish& wish,
                                            std::size_t cycles,
                                            result& r);

/// All queue while it is held, then it is passed on from one to the next, in as many rounds as
/// make this many hand-overs. Each grant is checked.
boost::asio::awaitable<void> measure_handovers(
    job& j, const lock_wish& wish, std::size_t waiters, std::size_t handovers, result& r);

/// Each client acquires it and gives it back, again and again: how long each waited
/// ("acquire_us"), from a release to the next grant, and grants per second. Each grant is checked.
boost::asio::awaitable<void> measure_turns(
    job& j, const lock_wish& wish, std::size_t clients, std::size_t turns, result& r);

/// From the end of the holder's process (SIGKILL) until the next one holds it.
boost::asio::awaitable<void> measure_losses(job& j,
                                            const lock_wish& wish,
                                            std::size_t kills,
                                            result& r);

/// How long nothing is granted when a server is lost.
/// @param kill ends it
boost::asio::awaitable<double> measure_outage(const lock_wish& wish, std::function<void()> kill);

}  // namespace corozk::bench
