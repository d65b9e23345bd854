// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "output.hpp"
#include "run_under.hpp"
#include <corozk/error.hpp>
#include <corozk/recipe/ownership.hpp>

#include <chrono>
#include <optional>

namespace corozk::program {

/// How long to wait for something: the options of everything that queues.
struct wait_options {
    bool try_only = false;
    std::optional<std::chrono::milliseconds> deadline;
    int conflict_code = 0;  ///< 0: the documented one

    void describe(CLI::App& app);

    /// The moment until which to wait.
    std::chrono::steady_clock::time_point until() const {
        auto now = std::chrono::steady_clock::now();
        return deadline ? now + *deadline : std::chrono::steady_clock::time_point::max();
    }
};

/// Acquires, and stands in line again when the session was lost while waiting.
/// @param once gives the awaitable of one attempt
template <class Attempt>
boost::asio::awaitable<ownership> acquire_again(surroundings& here, Attempt& once) {
    for (;;) {
        ending<ownership> ended;
        co_await run_to_end<ownership>(here.interrupts.race<ownership>(once()), ended);
        try {
            co_return ended.take();
        } catch (const boost::system::system_error& e) {
            if (e.code() != zk_errc::session_expired)
                throw;
            boost::json::object event;
            event["event"] = "session_lost";
            here.out.event("the session was lost while waiting; waiting again, behind all others",
                           event);
        }
    }
}

/// All of it: acquires, runs the command, releases.
/// @return the exit code
template <class Attempt>
boost::asio::awaitable<int> acquire_and_run(surroundings& here,
                                            const wait_options& wait,
                                            const run_options& options,
                                            std::string folder,
                                            Attempt& once) {
    ownership held;
    bool conflict = false;
    try {
        held = co_await acquire_again(here, once);
    } catch (const boost::system::system_error& e) {
        conflict = e.code() == errc::would_block || e.code() == errc::deadline_exceeded;
        if (!conflict || wait.conflict_code == 0)
            throw;
    }
    if (conflict)
        co_return wait.conflict_code;
    int code = co_await run_under(here, options, std::move(folder), held);
    co_return code;
}

}  // namespace corozk::program
