// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace corozk::bench {

/// The clocks of one process, by libfaketime, which is loaded into it.
class moved_clock {
public:
    /// @param file that the process reads at each look at a clock
    /// @param monotonic whether the monotonic clock moves as well as the wall clock
    moved_clock(std::filesystem::path file, bool monotonic);

    /// What the process is to be started with.
    std::map<std::string, std::string> environment() const;

    /// From the real time, such as "+5h".
    void move(std::string_view by) const;

    /// What libfaketime keeps in shared memory for a process: it removes that when the process exits,
    /// but not when it is killed.
    static void remove_traces(pid_t killed) noexcept;

    /// libfaketime; empty if it is not installed.
    static std::filesystem::path library();

private:
    std::filesystem::path file_;
    bool monotonic_;
};

}  // namespace corozk::bench
