// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outage.hpp"
#include "run_under.hpp"
#include "wait_options.hpp"
#include <corozk/ownership.hpp>

namespace corozk::program {

/// All of it: acquires, and stands in line again when the session was lost meanwhile; runs the
/// command; releases.
/// @param once gives the awaitable of one attempt
template <class Attempt>
boost::asio::awaitable<run_result> acquire_and_run(surroundings& here,
                                                   const wait_options& wait,
                                                   const run_options& options,
                                                   std::string folder,
                                                   Attempt& once) {
    ownership held;
    run_result result;
    // Who only tries does not wait for servers.
    auto until = wait.try_only ? wait.begin : wait.until();
    bool conflict = false;
    try {
        held = co_await through_outages<ownership>(
            here,
            until,
            "the connection was lost while waiting; waiting again, behind all others",
            once);
    } catch (const boost::system::system_error& e) {
        conflict = e.code() == errc::would_block || e.code() == errc::deadline_exceeded;
        if (!conflict || wait.conflict_code == 0)
            throw;
        result.code = wait.conflict_code;
    }
    if (!conflict)
        result = co_await run_under(here, options, std::move(folder), held);
    co_return result;
}

}  // namespace corozk::program
