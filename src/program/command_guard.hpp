// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <sys/types.h>

namespace corozk::program {

/// What the guard says, a message each. It ends after `all_gone`.
struct guard_report {
    enum kind_type : std::int32_t {
        not_run,   ///< value: errno
        started,   ///< value: the command's process
        ended,     ///< value: the command's status, as of waitpid
        lapsed,    ///< nothing was heard of us: the guard stops the command
        all_gone,  ///< nothing that descends from the command is there
    };
    kind_type kind;
    std::int32_t value;
};

/// A command's start, in what execvpe wants.
struct command_start {
    char** arguments;
    char** environment;
    int input;  ///< its standard input; -1: ours
};

/// A process between us and a command: the parent of the command and (as a subreaper) of everything
/// that outlives its own parent below it.
///
///  1. What descends from the command is what descends from the guard, whatever groups and sessions
///     it has made; and when the guard has no children, nothing is left.
///  2. It reaps them all.
///  3. If we die, however, or are stopped for longer than the lease, it stops them all: SIGTERM,
///     and SIGKILL after the grace time.
///  4. If the guard dies, all its children become ours, who are a subreaper, too.
struct command_guard {
    pid_t pid = -1;
    int reports =
        -1;  ///< Whole messages; its end means that the guard is gone. Ours must stay open.
};

/// For how long the guard lets a command run.
struct guard_terms {
    std::chrono::milliseconds lease;  ///< after the last sign of life of ours: any message to it
    std::chrono::milliseconds grace;  ///< between SIGTERM and SIGKILL
};

/// Forks it. @throws std::system_error
command_guard start_guard(const command_start& command, const guard_terms& terms);

/// SIGTERM for all that descends from it, also for what is stopped.
/// @return whether there was anybody
bool ask_to_end(pid_t root);

/// SIGKILL for all that descends from it. Who is being forked in this moment is met the next time.
void kill_below(pid_t root);

/// How long to wait for the end of what got SIGKILL: a process may hang inside the kernel, or be
/// somebody else's.
inline constexpr std::chrono::seconds kill_limit{5};

}  // namespace corozk::program
