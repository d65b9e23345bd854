// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contest.hpp"
#include "result.hpp"
#include "stage.hpp"

#include <boost/asio/awaitable.hpp>

#include <algorithm>
#include <cstddef>

namespace corozk::bench {

/// Of so many turns in all, at least one.
constexpr std::size_t turns_per_client(std::size_t turns, std::size_t clients) {
    return std::max<std::size_t>(turns / clients, 1);
}

/// A closed loop: each waiter acquires what the setup says and gives it back at once, again and
/// again, until it has had its part of the turns. Adds one repetition to the row: from a release to
/// the next grant ("handover_us"), how long each waited ("acquire_us"), and what a turn costs. Every
/// grant is checked (see turns.hpp). Leaders do not acknowledge.
boost::asio::awaitable<void> run_closed_contest(stage& s,
                                                contest_setup setup,
                                                std::size_t turns,
                                                result& r);

}  // namespace corozk::bench
