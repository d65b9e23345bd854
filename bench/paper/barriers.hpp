// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"
#include "result.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>

namespace corozk::bench {

/// So many clients, a session each, enter one double barrier after the other, then leave one after
/// the other: corozk's, or that of the recipes page. Adds one repetition to the row: the average
/// time of a client ("time_s"), operations per second (an enter or a leave of one client), and what
/// one costs.
boost::asio::awaitable<void> measure_barriers(
    job& j, bool ours, std::size_t barriers, std::size_t clients, result& r);

}  // namespace corozk::bench
