// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace corozk::testing {

/**
 * @brief A thread that does nothing but look at its clock, a tenth of the time: what the machine adds
 * to the processor time of the thread that runs on it.
 *
 * Processor time has in it what interrupts take, and what a hypervisor takes without a word. Beside
 * the longest turn of a loop (turn_clock) the longest step of this clock shows what caused it.
 */
class still_loop {
public:
    /**
     * @param tell  called from the thread, some 30 times a second, with the longest step since the
     *              last call
     */
    explicit still_loop(std::function<void(std::chrono::nanoseconds)> tell);

    /** @brief Ends the thread. */
    ~still_loop();

    still_loop(const still_loop&) = delete;
    still_loop& operator=(const still_loop&) = delete;

private:
    std::atomic<bool> over_{false};
    std::thread thread_;
};

}  // namespace corozk::testing
