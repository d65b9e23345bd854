// SPDX-License-Identifier: Apache-2.0
// The monotonic clock of one thread, which goes only when a test turns it: what an operation sends then
// depends neither on the machine nor on its load.
#pragma once

#include <chrono>

namespace corozk::testing {

/// As long as it lives, the thread that made it has a monotonic clock that stands still, for all
/// libraries of the process. Other threads are not affected. One at a time.
class stopped_clock {
public:
    stopped_clock();
    ~stopped_clock();
    stopped_clock(const stopped_clock&) = delete;
    stopped_clock& operator=(const stopped_clock&) = delete;

    void turn(std::chrono::milliseconds by) noexcept;

    /// What the clock would say if it had not been stopped.
    static std::chrono::nanoseconds real() noexcept;
};

}  // namespace corozk::testing
