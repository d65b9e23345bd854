// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command_guard.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/signal_set.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace corozk::program {

/// What to run. The program is looked up in PATH; no shell is involved.
struct child_description {
    std::vector<std::string> words;
    /// Added to this process's environment.
    std::vector<std::pair<std::string, std::string>> environment;
    /// What stands on its standard input; without it, it has ours.
    std::optional<std::string> input;
    /// Between SIGTERM and SIGKILL.
    std::chrono::milliseconds grace{10'000};
};

/// A command in a process group of its own, so that it can be ended together with what it started.
///
///  1. It ends with us at the latest: when this process dies, however, a guard ends the group.
///  2. If this process has the terminal, the command gets it, and Ctrl-C goes to the command alone.
///     Being stopped (Ctrl-Z) is undone at once: who holds a lock must not sleep.
class child_process {
public:
    /// Starts it. @throws std::system_error if it cannot be run.
    child_process(const boost::asio::any_io_executor& executor, const child_description& what);

    /// Kills what still runs.
    ~child_process();

    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;

    /// Waits for its end. Can be cancelled, and waited for again.
    /// @return its exit code, or 128 and the number of the signal that ended it.
    boost::asio::awaitable<int> ended();

    /// Sends a signal to the whole group.
    void signal(int number) const noexcept;

    /// SIGTERM, and SIGKILL after the grace time; returns when the whole group is gone.
    boost::asio::awaitable<void> stop();

private:
    std::optional<int> reap() noexcept;
    bool group_is_alive() const noexcept;
    void give_terminal(pid_t group) const noexcept;

    boost::asio::signal_set children_;
    std::chrono::milliseconds grace_;
    bool has_terminal_ = false;
    pid_t pid_ = -1;
    std::optional<int> exit_code_;
    std::optional<command_guard> guard_;
};

}  // namespace corozk::program
