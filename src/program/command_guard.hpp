// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <sys/types.h>

namespace corozk::program {

/// A process that does nothing but wait for our death, to end a process group then: SIGTERM, and
/// SIGKILL after the grace time. A command must not go on without the lock that it runs under.
class command_guard {
public:
    /// For this group, and while the object lives. Without resources for a process there is none.
    command_guard(pid_t group, std::chrono::milliseconds grace) noexcept;

    /// Dismisses it: the group stays as it is.
    ~command_guard();

    command_guard(const command_guard&) = delete;
    command_guard& operator=(const command_guard&) = delete;

private:
    pid_t pid_ = -1;
    int pipe_ = -1;
};

}  // namespace corozk::program
