// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "result.hpp"
#include "stage.hpp"

namespace corozk::bench {

/// N coroutines that want one lock: they queue while it is held, then it is passed on from one to the
/// next, each holding it for no time.
struct contest_setup {
    contest_setup() = default;
    contest_setup(std::string_view implementation_, std::size_t waiters_)
        : implementation(implementation_),
          waiters(waiters_) {}

    std::string implementation = "ours";
    std::size_t waiters = 0;
    std::size_t sessions = 1;
    std::size_t locks = 1;          ///< the waiters are spread over them
    std::size_t floor_samples = 0;  ///< before and after; 0 means the usual number
};

/// Runs one contest and adds a repetition of every figure to the result.
///
/// A hand-over's latency is the time from right before a holder calls release to the next holder's
/// acquire returning. Every grant is checked: its fencing token has to be larger than the last one.
boost::asio::awaitable<void> run_contest(stage& s, contest_setup setup, result& r);

/// What people call an implementation.
std::string_view title_of(std::string_view implementation);

/// More waiters than this take too long, or do not fit into a packet; 0 if there is no such number.
std::size_t sensible_limit(std::string_view implementation);

}  // namespace corozk::bench
