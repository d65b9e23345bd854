// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "child_process.hpp"
#include "command.hpp"
#include <corozk/ownership.hpp>

#include <functional>

namespace corozk::program {

/// The options of commands that run another one.
struct run_options {
    std::chrono::milliseconds grace{10'000};
    std::string identity;  ///< empty: user, host, process and program

    void describe(CLI::App& app);

    /// Adds --grace alone: what only runs a command is no contender.
    void describe_grace(CLI::App& app);

    /// "anna@db1 pid 4711 backup", unless --identity says otherwise.
    std::string identity_for(const settings& s) const;

    /// The command that was given, with COROZK_HOSTS and COROZK_PATH in its environment.
    child_description command_at(const std::string& path, const settings& s) const;
};

/// How a command ended that ran under something.
struct run_result {
    int code = 0;
    bool lost = false;
    bool started = false;  ///< false: it cannot be run, which was reported
    bool last = false;     ///< was asked to end by a signal, which it has answered by its code
    bool stuck = false;    ///< some of its descendants could not be ended, which was reported

    /// Whether another command may follow.
    bool allows_another() const noexcept { return started && !last && !stuck; }
};

/// Waits for a loss, and returns its reason. It is cancelled and called again at each signal.
using loss_wait = std::function<asio::awaitable<error_code>()>;

/// That of an ownership or a claim.
template <class Owned>
loss_wait loss_of(Owned& held) {
    return [&held]() -> asio::awaitable<error_code> {
        error_code reason = co_await held.wait_lost();
        co_return reason;
    };
}

/// Runs a command until it ends or the loss occurs, which stops it. In either case all its
/// descendants are ended. Signals are forwarded to it.
/// @throws interrupted if a signal has asked to end before: it is not started then
/// @param of what may be lost, for messages
asio::awaitable<run_result> run_under(command_context& context,
                                      child_description what,
                                      std::string of,
                                      const loss_wait& lost);

/// The same under an ownership, which is released at the end. Adds its variables.
asio::awaitable<run_result> run_under(command_context& context,
                                      const run_options& options,
                                      std::string path,
                                      ownership& held);

/// Awaits a release, which goes on without us if a signal asks to end: the servers may be away.
asio::awaitable<void> release_unless_asked_to_end(command_context& context,
                                                  asio::awaitable<void> release);

}  // namespace corozk::program
