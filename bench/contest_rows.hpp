// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"
#include "contest.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace corozk::bench {

/// Runs a contest as often as wanted. @return the row with all repetitions.
boost::asio::awaitable<result> repeat_contest(job& j, contest_setup setup);

/// A figure with its spread, if it was measured several times: "141 us (133..150)".
std::string with_spread(const result& r, std::string_view key, std::string (*text)(double));

/// A figure without its spread; "" if there is none.
std::string only_if(const result& r, std::string_view key, std::string (*text)(double));

/// The lines that say with what a table was measured.
std::string heading(const job& j);

}  // namespace corozk::bench
