// SPDX-License-Identifier: Apache-2.0
// The clocks of a client process, which jump: every library of the process sees it.
#pragma once

namespace corozk::chaos {

/// Handles SIGUSR1 (the monotonic clock jumps ahead, as in a laptop that was asleep) and SIGUSR2
/// (the clock on the wall jumps, either way); the signal's value says by how many milliseconds.
/// Counts, too, how often the process was stopped and goes on (SIGCONT).
void obey_clock_signals();

/// How often the monotonic clock has jumped, or the process has stood still. Where that has happened, what the
/// clock says to have passed is not what the process did.
unsigned disturbances() noexcept;

}  // namespace corozk::chaos
