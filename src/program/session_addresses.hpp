// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace corozk::program {

/// From where each session is connected, as the servers say: asks each of them for its connections
/// (the word `cons`). Those that do not answer within a second, or do not allow the word
/// (`4lw.commands.whitelist`), know nothing.
boost::asio::awaitable<std::map<std::int64_t, std::string>> session_addresses(std::string hosts);

/// The answer to `cons`: session to address. Adds to what is there.
void parse_connections(std::string_view answer, std::map<std::int64_t, std::string>& found);

}  // namespace corozk::program
