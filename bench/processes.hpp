// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contest.hpp"
#include "result.hpp"
#include "stage.hpp"

#include <boost/asio/awaitable.hpp>

namespace corozk::bench {

/// A contest whose waiters are in `setup.processes` processes. This one holds what they want until
/// all have queued; then it is passed on from process to process. All read the same clock, so that
/// their grants can be put in order afterwards: checked as in every contest.
boost::asio::awaitable<void> run_contest_in_processes(stage& s, contest_setup setup, result& r);

}  // namespace corozk::bench
