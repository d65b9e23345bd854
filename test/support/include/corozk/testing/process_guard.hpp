// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace corozk::testing {

/** @brief What to run and how. */
struct process_options {
    /// Program and arguments. No shell is involved; a program without a slash is looked up in PATH.
    std::vector<std::string> command = {};
    /// Variables added to (or replacing those of) this process's environment.
    std::map<std::string, std::string> environment = {};
    /// Standard output and error are appended to this file; empty means /dev/null.
    std::filesystem::path output = {};
    /// Standard error is appended to this file instead; empty means with standard output.
    std::filesystem::path errors = {};
    /// Standard input is read from this file; empty means /dev/null.
    std::filesystem::path input = {};
    /// Working directory of the child; empty means this process's.
    std::filesystem::path directory = {};
};

/**
 * @brief One child process that never outlives its owner.
 *
 * The destructor kills the child. If this process dies without running destructors (abort,
 * SIGKILL), the kernel kills the child. The child is in a process group of its own, so Ctrl-C at
 * the terminal reaches only this process.
 *
 * The kernel's rule is tied to the *thread* that forked. All children are therefore started by one
 * thread that lives as long as the process; guards can be made on any thread, however short-lived.
 *
 * A copy of the object in a forked child process does nothing.
 *
 * Thread safety: all members may be called from any thread.
 */
class process_guard {
public:
    /**
     * @brief Starts the process.
     * @throws std::system_error if it cannot be started (for example, no such program).
     */
    explicit process_guard(const process_options& options);

    /** @brief Kills the process (SIGKILL) if it still runs, and reaps it. */
    ~process_guard();

    process_guard(const process_guard&) = delete;
    process_guard& operator=(const process_guard&) = delete;

    /** @brief The process's id, also after it ended. */
    pid_t pid() const noexcept { return pid_; }

    /** @brief True until the process has ended (a stopped one runs). */
    bool running();

    /** @brief Sends a signal. Does nothing if the process has ended. */
    void signal(int number);

    /** @brief SIGKILL; returns when the process is gone. */
    void kill();

    /** @brief SIGTERM; SIGKILL if it does not end within the limit. Returns when it is gone. */
    void terminate(std::chrono::milliseconds limit = std::chrono::seconds{10});

    /** @brief SIGSTOP; returns when the process has stopped (or ended). */
    void stop();

    /** @brief SIGCONT. */
    void cont();

    /** @brief Waits for the end; false if the limit passed first. */
    bool wait(std::chrono::milliseconds limit);

    /**
     * @brief How the process ended: its exit code, or minus the signal that ended it.
     *
     * Empty while it runs.
     */
    std::optional<int> exit_status();

private:
    bool reap();

    pid_t owner_;
    pid_t pid_ = -1;
    int handle_ = -1;  // a pidfd: names this very process even after its id was given to another
    std::mutex mutex_;
    std::optional<int> status_;
};

}  // namespace corozk::testing
