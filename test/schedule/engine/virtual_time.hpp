// SPDX-License-Identifier: Apache-2.0
// Time stands still until the scheduler lets it go on.
//
// What a program may replace is replaced at link time: std::chrono::steady_clock::now,
// std::random_device, timerfd_create (so that Asio looks at its timers in each poll) and epoll_wait
// (which shows how long Asio would have slept).
#pragma once

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <optional>

namespace corozk::schedule {

/// A new schedule begins: the same time and the same random numbers as ever.
void reset_time();

/// ms since the schedule began.
std::int64_t elapsed();

void advance_time(std::int64_t ms);

/// Runs everything that is ready, and what comes of it.
void run_to_idle(boost::asio::io_context& context);

/// ms until the next timer; nothing if there is none. Everything that is ready has run.
std::optional<std::int64_t> until_next_timer(boost::asio::io_context& context);

}  // namespace corozk::schedule
