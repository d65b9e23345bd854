// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "child_process.hpp"
#include "command.hpp"
#include <corozk/ownership.hpp>

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace corozk::program {

/// The options that every command has which runs another one.
struct run_options {
    std::chrono::milliseconds grace{10'000};
    std::string identity;  ///< empty: who and where we are

    void describe(CLI::App& app);

    /// "anna@db1 pid 4711 backup": who runs what, and where.
    std::string identity_for(const settings& s) const;
};

/// How a command ended that ran under something.
struct run_result {
    int code = 0;
    bool lost = false;
};

/// Runs a command until it ends, or what it runs under is lost: then it is stopped. In either case
/// nothing that it has started goes on. Signals that we get meanwhile are passed on to it.
/// @param lost completes with the reason when it is lost; called anew after each signal
boost::asio::awaitable<run_result> run_under(
    surroundings& here,
    child_description what,
    std::string of_what,
    std::function<boost::asio::awaitable<std::string>()> lost);

/// The same under an ownership, which is released at the end. Its variables are added.
boost::asio::awaitable<run_result> run_under(surroundings& here,
                                             const run_options& options,
                                             std::string folder,
                                             ownership& held);

}  // namespace corozk::program
