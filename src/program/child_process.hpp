// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command_guard.hpp"
#include "descendants.hpp"
#include "interruption.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace corozk::program {

/// What to run. The program is looked up in PATH; no shell is involved.
struct child_description {
    std::vector<std::string> words;
    /// Added to this process's environment.
    variables environment;
    /// Its standard input; without it, it inherits ours.
    std::optional<std::string> input;
    /// The time between SIGTERM and SIGKILL.
    std::chrono::milliseconds grace{10'000};
    /// The command is stopped if this process is stopped for so long; without it, for as long as the
    /// session's timeout.
    std::optional<std::chrono::milliseconds> lease;
};

/// A command and all its descendants: started and ended together.
///
/// It is in our process group, so that a terminal and its shell see one job, as with flock(1):
/// Ctrl-C and Ctrl-Z go to both, and the shell decides who reads from the terminal. Its signal mask
/// and ignored signals are those that this program was started with.
class child_process {
public:
    /// Starts it. @throws std::system_error if it cannot be run.
    child_process(const asio::any_io_executor& executor,
                  interruption& signals,
                  const child_description& what);

    /// Kills what still runs.
    ~child_process();

    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;

    /// Waits for the command's end; its descendants may still run. Can be cancelled and called again.
    /// @return its exit code, or 128 and the number of the signal that ended it
    asio::awaitable<int> ended();

    /// Whether it was stopped because this process was stopped for too long.
    bool lapsed() const noexcept { return lapsed_; }

    /// Forwards a signal: one that asks to end to the command and its descendants, as a terminal
    /// would, and resumes those that are stopped; any other one to the command alone.
    /// @return whether there was a process to receive it: the command may just have ended
    bool forward(const signal_request& request) const;

    /// Sends SIGTERM to all, and SIGKILL after the grace time, or when a signal asks this process to
    /// end meanwhile; other signals are forwarded. Cannot be cancelled.
    /// @return whether all have ended: some may hang, or belong to another user
    asio::awaitable<bool> stop();

    /// The same for descendants that have outlived the command, after half a second.
    asio::awaitable<bool> stop_what_is_left();

private:
    asio::awaitable<void> wait_for_end(std::chrono::milliseconds limit);
    asio::awaitable<void> next_report();
    asio::awaitable<void> read_report();
    void look_without_guard();
    void renew_lease();
    pid_t root() const noexcept;
    const std::vector<descendant>& exempt() const;
    std::chrono::milliseconds renewal_interval() const noexcept;

    interruption& signals_;
    std::chrono::milliseconds grace_;
    std::chrono::milliseconds lease_;
    pid_t guard_ = -1;
    pid_t command_ = -1;
    asio::posix::stream_descriptor reports_;
    asio::steady_timer renewal_;
    bool guard_is_gone_ = false;
    bool lapsed_ = false;
    bool all_gone_ = false;
    std::optional<int> exit_code_;
};

}  // namespace corozk::program
