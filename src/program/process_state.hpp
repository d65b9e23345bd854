// SPDX-License-Identifier: Apache-2.0
// What a program inherits from its caller and must hand on to a command as it found it: signals
// that are ignored, the signal mask, and standard streams that are closed.
#pragma once

#include <csignal>

namespace corozk::program {

/// The signals that are waited for instead of being delivered. Requests are those of them that the
/// caller does not ignore (nohup, a shell's background jobs): what was ignored stays so.
struct signal_sets {
    sigset_t requests;  ///< somebody asks us to end, or means the command
    sigset_t children;  ///< SIGCHLD
};

/// The first thing that the program does. Without SIGPIPE a reader that went away is an error of
/// the write; a standard stream that is closed is occupied, so that no socket becomes one.
void set_up_process() noexcept;

/// Blocks these signals in this thread and those that it starts, to be read from a descriptor.
signal_sets block_signals() noexcept;

/// Between fork and exec: everything as it was when the program began.
void restore_process() noexcept;

/// Ends by this signal, as who waits for this process expects it. Returns if that is impossible:
/// for the first process of a container.
void end_by(int signal) noexcept;

}  // namespace corozk::program
