// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"
#include "safety/fault.hpp"
#include "safety/protection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace corozk::bench {

/// Whose lock it is.
struct lock_owner {
    lock_owner() = default;

    std::string system;
    std::string title;
    std::string hosts;
    std::vector<std::string> program;  ///< of the processes; empty: this one
};

/// One repetition: processes that add to a set under a lock, each reading all of it and writing it
/// back. A fault befalls some of them before they write, until their session is over and others have
/// written. Adds what came of it to the row.
boost::asio::awaitable<void> run_safety_once(
    job& j, const protection& p, const fault& f, const lock_owner& owner, result& row);

}  // namespace corozk::bench
