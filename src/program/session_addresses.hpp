// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace corozk::program {

/// From session to address.
using address_map = std::map<std::int64_t, std::string>;

/// Asks each server for the addresses of its sessions (the command `cons`). Those that do not respond
/// within a second, or do not allow the command (`4lw.commands.whitelist`), are skipped.
boost::asio::awaitable<address_map> session_addresses(std::string hosts);

}  // namespace corozk::program
