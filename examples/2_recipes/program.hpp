// SPDX-License-Identifier: Apache-2.0
// Shared by these programs: each takes the servers' addresses and runs one coroutine.
#pragma once

#include <corozk/client.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <string>

/// Erases what an earlier run has left there, if anything.
boost::asio::awaitable<void> erase_leftovers(corozk::client& zk, std::string path);

/// Returns the exit code: 0, or 1 after an error, which is printed.
int run_program(int argc, char** argv, boost::asio::awaitable<void> (*work)(std::string hosts));
