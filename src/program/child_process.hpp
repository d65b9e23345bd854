// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command_guard.hpp"
#include "interruption.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

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
    /// It is stopped if this process does nothing for so long: as long as a session lives.
    std::chrono::milliseconds lease{10'000};
};

/// A command, and all that descends from it: started and ended together.
///
/// It is in our process group, so that a terminal and its shell see one job, as with flock(1):
/// Ctrl-C and Ctrl-Z go to both, and who may read from the terminal is the shell's affair. Its
/// signal mask and what it ignores are those that we were started with.
class child_process {
public:
    /// Starts it. @throws std::system_error if it cannot be run.
    child_process(const boost::asio::any_io_executor& executor,
                  interruption& signals,
                  const child_description& what);

    /// Kills what still runs.
    ~child_process();

    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;

    /// Waits for the command's end; what it started may still run. Can be cancelled, and waited for
    /// again.
    /// @return its exit code, or 128 and the number of the signal that ended it.
    boost::asio::awaitable<int> ended();

    /// Whether it was stopped because this process did nothing for too long.
    bool lapsed() const noexcept { return lapsed_; }

    /// Passes a request on: one to end to all that descends from the command, as a terminal would,
    /// and also to what is stopped; any other to the command alone.
    void pass_on(const signal_request& request) const;

    /// SIGTERM for all, and SIGKILL after the grace time, or at once when we are asked to end
    /// meanwhile. Cannot be cancelled.
    /// @return whether all are gone: who belongs to somebody else, or hangs, may be left
    boost::asio::awaitable<bool> stop();

    /// The same for what has outlived the command, after half a second.
    boost::asio::awaitable<bool> stop_what_is_left();

private:
    boost::asio::awaitable<void> gone_or_asked_within(std::chrono::milliseconds limit);
    boost::asio::awaitable<void> news();
    boost::asio::awaitable<void> read_report();
    void look_without_guard();
    void give_sign();
    pid_t root() const noexcept;

    interruption& signals_;
    std::chrono::milliseconds grace_;
    std::chrono::milliseconds lease_;
    pid_t guard_ = -1;
    pid_t command_ = -1;
    boost::asio::posix::stream_descriptor reports_;
    boost::asio::steady_timer sign_due_;
    bool guard_is_gone_ = false;
    bool lapsed_ = false;
    bool all_gone_ = false;
    std::optional<int> exit_code_;
};

}  // namespace corozk::program
