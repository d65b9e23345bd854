// SPDX-License-Identifier: Apache-2.0
// What a program inherits from its caller and must pass on to a command unchanged: ignored signals,
// the signal mask, and closed standard streams.
#pragma once

#include <array>
#include <csignal>

namespace corozk::program {

/// What asks this program to end, unless it is for a command.
inline constexpr std::array request_signals{
    SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM};

/// The signals that are read from descriptors. Requests do not include those that the caller ignores
/// (nohup, background jobs of a shell): they stay ignored.
struct signal_sets {
    sigset_t requests;  ///< to end, or for the command
    sigset_t children;  ///< SIGCHLD
};

/// Must be called first. Ignores SIGPIPE and SIGXFSZ, so that writes fail instead; occupies closed
/// standard streams, so that no socket becomes one.
void set_up_process() noexcept;

/// Blocks these signals in this thread and those that it starts.
signal_sets block_signals() noexcept;

/// Restores what the program was started with; between fork and exec.
void restore_process() noexcept;

/// Ends this process by the signal, as its parent expects. Returns if that is impossible: in the
/// first process of a container.
void end_by(int signal) noexcept;

}  // namespace corozk::program
