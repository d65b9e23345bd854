// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"
#include "result.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace corozk::bench {

/// A hand-over between sessions, taken apart: by bare sessions that send more and more of what
/// corozk sends, then by corozk's lock; a row for each.
boost::asio::awaitable<std::vector<result>> measure_ring(job& j);

/// The same as a table.
std::string ring_table(const std::vector<result>& rows);

}  // namespace corozk::bench
