// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace corozk::chaos {

/// What a machine adds to the processor time of whoever runs on it, with interrupts, or where a
/// hypervisor takes a processor away and tells nobody: a thread that does nothing but look at its
/// clock, a tenth of the time. Without it nobody could say whose a long turn was.
class still_loop {
public:
    /// @param tell  called from the thread, some 30 times a second, with the longest step of its
    ///              clock since the last call
    explicit still_loop(std::function<void(std::chrono::nanoseconds)> tell);
    ~still_loop();
    still_loop(const still_loop&) = delete;
    still_loop& operator=(const still_loop&) = delete;

private:
    std::atomic<bool> over_{false};
    std::thread thread_;
};

}  // namespace corozk::chaos
