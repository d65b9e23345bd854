// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "descendants.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace corozk::program {

/// A message of the guard, which ends after `all_gone`.
struct guard_report {
    enum kind_type : std::int32_t {
        not_run,   ///< value: errno
        started,   ///< value: the command's process
        ended,     ///< value: the command's status, as from waitpid
        lapsed,    ///< the lease has ended: the guard stops the command
        all_gone,  ///< no descendant of the command is left
    };
    kind_type kind;
    std::int32_t value;
};

using variables = std::vector<std::pair<std::string, std::string>>;

struct command_start {
    char** arguments;              ///< as for execvp
    const variables* environment;  ///< added to ours, without those that hold a secret
    int input;                     ///< its standard input; -1: ours
};

/// A process between us and a command: the parent of the command, and as a subreaper of all
/// descendants that outlive their parents.
///
///  1. The descendants of the command are those of the guard, in any process group and session.
///     When the guard has no children, none are left.
///  2. It reaps them all.
///  3. If this process dies, or is stopped for longer than the lease, the guard stops them all:
///     SIGTERM, and SIGKILL after the grace time.
///  4. If the guard dies, its children become those of this process, which is a subreaper, too.
struct command_guard {
    pid_t pid = -1;
    int reports =
        -1;  ///< a socket; its end means that the guard has ended, and the other way round
};

/// How long the guard lets a command run.
struct guard_terms {
    std::chrono::milliseconds lease;  ///< after the last message to it, any byte
    std::chrono::milliseconds grace;  ///< between SIGTERM and SIGKILL
};

/// Starts it. @throws std::system_error
command_guard start_guard(const command_start& command, const guard_terms& terms);

/// Sends SIGTERM to all descendants but these, and resumes those that are stopped.
/// @return whether there are any
bool ask_to_end(pid_t root, const std::vector<descendant>& except = {});

/// Sends SIGKILL to all descendants but these; call it again until none are left.
void kill_below(pid_t root, const std::vector<descendant>& except = {});

/// How long to wait for the end after SIGKILL: a process may hang in the kernel, or belong to another
/// user.
inline constexpr std::chrono::seconds kill_limit{5};

}  // namespace corozk::program
