// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"

#include <boost/asio/awaitable.hpp>

#include <span>
#include <string>
#include <string_view>

namespace corozk::bench {

// Each adds its rows to the job. @return its table, and how to read it

/// The double barriers of ZooKeeper's paper.
boost::asio::awaitable<std::string> play_barrier_table(job& j);

/// Recipes as more and more clients use them: counter, queue, barrier, election.
boost::asio::awaitable<std::string> play_recipes(job& j, std::span<const std::string> names);

/// What requests and notifications a queue, a barrier and a lock cause as more and more wait.
boost::asio::awaitable<std::string> play_herd(job& j);

/// Locks of several systems and libraries as more and more clients want them.
boost::asio::awaitable<std::string> play_locks(job& j);

}  // namespace corozk::bench
