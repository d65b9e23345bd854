// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/waiting_for_core.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <functional>
#include <sys/resource.h>
#include <utility>

namespace corozk::testing {

/**
 * @brief Measures how long the turns of a loop take, in processor time of the thread that runs it:
 * what a busy machine takes away does not count, and neither does what the test kit itself does in
 * between (see aside).
 *
 * What a handler waits for without a processor (a lock, a peer, a clock) counts as well, where the
 * loop had not to wait for the handler itself: see end().
 *
 * The last one that was made on a thread is the thread's: run() and run_to_idle() tell it of each
 * turn.
 *
 * Thread safety: of one thread.
 */
class turn_clock {
public:
    using duration = std::chrono::nanoseconds;

    /** @brief How long a turn took, and what tells whose time that was. */
    struct turn {
        duration took{};       ///< processor time, and what it was blocked
        duration blocked{};    ///< of it, without a processor that it could have had
        duration in_kernel{};  ///< of it, as far as the kernel's ticks (of some ms) tell
        long page_faults = 0;
        long preemptions = 0;  ///< how often others got the processor
    };

    turn_clock() noexcept : before_{current_} { current_ = this; }
    ~turn_clock() { current_ = before_; }
    turn_clock(const turn_clock&) = delete;
    turn_clock& operator=(const turn_clock&) = delete;

    void begin() noexcept {
        aside_before_ = aside_total_;
        aside_on_the_wall_before_ = aside_on_the_wall_;
        used_before_ = used();
        waited_before_ = core_.total();
        began_on_the_wall_ = std::chrono::steady_clock::now();
        began_ = now();
    }

    /**
     * @param ready  whether the handler was there already: a turn that begins with waiting for one
     *               does not show what it waits for afterwards
     */
    void end(bool ready) noexcept {
        const auto worked = now() - began_ - (aside_total_ - aside_before_);
        const auto blocked = ready ? blocked_beside(worked) : duration{};
        const auto took = worked + blocked;
        if (took <= longest_.took) {
            return;
        }
        const rusage after = used();
        longest_ = {
            took,
            blocked,
            of(after.ru_stime) - of(used_before_.ru_stime),
            after.ru_minflt + after.ru_majflt - used_before_.ru_minflt - used_before_.ru_majflt,
            after.ru_nivcsw - used_before_.ru_nivcsw};
    }

    /** @brief A handler has run: run() and run_to_idle() say so. */
    void turned() {
        ++turns_;
        if (turns_ == interrupted_at_) {
            std::exchange(interruption_, nullptr)();
        }
    }

    /** @brief How many handlers have run. */
    std::size_t turns() const noexcept { return turns_; }

    /** @brief Calls something once, between two handlers: when so many have run from now on. */
    void interrupt_after(std::size_t turns, std::function<void()> what) {
        interrupted_at_ = turns_ + turns;
        interruption_ = std::move(what);
    }

    duration longest() const noexcept { return longest_.took; }

    /** @brief The longest since the last call. */
    turn take_longest() noexcept { return std::exchange(longest_, turn{}); }

    /** @brief The thread's, or null. */
    static turn_clock* current() noexcept { return current_; }

    /** @brief Processor time of this thread. */
    static duration now() noexcept {
        timespec t{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
    }

private:
    friend class aside;

    /** Neither at work nor waiting for a core. What is too little to matter is not looked at. */
    duration blocked_beside(duration worked) const noexcept {
        const duration passed = std::chrono::steady_clock::now() - began_on_the_wall_ -
                                (aside_on_the_wall_ - aside_on_the_wall_before_);
        if (passed - worked < std::chrono::milliseconds{1}) {
            return {};
        }
        // Who was put aside by others only, was not blocked.
        if (used().ru_nvcsw == used_before_.ru_nvcsw) {
            return {};
        }
        return std::max(duration{}, passed - worked - (core_.total() - waited_before_));
    }

    static rusage used() noexcept {
        rusage u{};
        ::getrusage(RUSAGE_THREAD, &u);
        return u;
    }
    static duration of(const timeval& t) noexcept {
        return std::chrono::seconds{t.tv_sec} + std::chrono::microseconds{t.tv_usec};
    }

    std::size_t turns_ = 0;
    std::size_t interrupted_at_ = 0;
    std::function<void()> interruption_;

    static inline thread_local turn_clock* current_ = nullptr;
    static inline thread_local duration aside_total_{};
    static inline thread_local duration aside_on_the_wall_{};
    static inline thread_local int aside_depth_ = 0;

    turn_clock* before_;
    duration began_{};
    std::chrono::steady_clock::time_point began_on_the_wall_{};
    duration aside_before_{};
    duration aside_on_the_wall_before_{};
    duration waited_before_{};
    rusage used_before_{};
    waiting_for_core core_;
    turn longest_{};
};

/** @brief What this thread does while the object lives is the test's, not the loop's. */
class aside {
public:
    aside() noexcept {
        if (turn_clock::aside_depth_++ == 0) {
            began_ = turn_clock::now();
            began_on_the_wall_ = std::chrono::steady_clock::now();
        }
    }
    ~aside() {
        if (--turn_clock::aside_depth_ == 0) {
            turn_clock::aside_total_ += turn_clock::now() - began_;
            turn_clock::aside_on_the_wall_ += std::chrono::steady_clock::now() - began_on_the_wall_;
        }
    }
    aside(const aside&) = delete;
    aside& operator=(const aside&) = delete;

private:
    turn_clock::duration began_{};
    std::chrono::steady_clock::time_point began_on_the_wall_{};
};

}  // namespace corozk::testing
