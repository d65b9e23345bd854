// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace corozk::bench {

/// What a neighbour notices of a peer's lock: so many contenders, in a session each, each of which
/// keeps it for that time. `j.wanted.releases` of them at the most have their turn.
/// @return a row like those of `herd`, with a failure if the peer could not do it
boost::asio::awaitable<result> measure_neighbour_of_peer(job& j,
                                                         std::string peer,
                                                         std::size_t waiters,
                                                         std::chrono::milliseconds hold);

}  // namespace corozk::bench
