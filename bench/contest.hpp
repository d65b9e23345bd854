// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "result.hpp"
#include "stage.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace corozk::bench {

/// N coroutines that want one lock, or what else is to be waited for: they queue while it is held,
/// then it is passed on from one to the next, each holding it for no time.
struct contest_setup {
    contest_setup() = default;
    contest_setup(std::string_view implementation_, std::size_t waiters_)
        : implementation(implementation_), waiters(waiters_) {}

    std::string recipe = "lock";
    std::string implementation = "ours";
    std::size_t waiters = 0;
    std::size_t sessions = 1;
    std::size_t locks = 1;          ///< the waiters are spread over them
    std::size_t readers = 3;        ///< behind each writer of a shared lock
    std::size_t limit = 10;         ///< of a semaphore: so many hold it at a time
    std::size_t processes = 1;      ///< the waiters and sessions are spread over them
    std::size_t floor_samples = 0;  ///< before and after; 0 means the usual number
};

/// Runs one contest and adds a repetition of every figure to the result.
///
/// A hand-over's latency is the time from right before a holder calls release to the acquire that
/// this lets in returning. Every grant is checked (see turns.hpp).
boost::asio::awaitable<void> run_contest(stage& s, contest_setup setup, result& r);

/// The same without the floor before and after.
boost::asio::awaitable<void> run_bare_contest(stage& s, contest_setup setup, result& r);

/// Every recipe that contests know.
std::span<const std::string_view> all_recipes();

/// Whether there is such a thing; corozk's own is there for every recipe.
bool is_implemented(std::string_view recipe, std::string_view implementation);

/// What people call an implementation of a recipe.
std::string title_of(const contest_setup& setup);

/// More waiters than this take too long, or do not fit into a packet; 0 if there is no such number.
std::size_t sensible_limit(const contest_setup& setup);

}  // namespace corozk::bench
