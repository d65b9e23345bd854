// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <ctime>
#include <sys/resource.h>
#include <utility>

namespace corozk::testing {

/**
 * @brief Measures how long the turns of a loop take, in processor time of the thread that runs it:
 * what a busy machine takes away does not count, and neither does what the test kit itself does in
 * between (see aside).
 *
 * The last one that was made on a thread is the thread's: run() and run_to_idle() tell it of each
 * turn. A turn that blocks costs no processor time: for that, look at the clock on the wall.
 *
 * Thread safety: of one thread.
 */
class turn_clock {
public:
    using duration = std::chrono::nanoseconds;

    /** @brief How long a turn took, and what tells whose time that was. */
    struct turn {
        duration took{};       ///< processor time
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
        used_before_ = used();
        began_ = now();
    }

    void end() noexcept {
        const auto took = now() - began_ - (aside_total_ - aside_before_);
        if (took <= longest_.took) {
            return;
        }
        const rusage after = used();
        longest_ = {
            took,
            of(after.ru_stime) - of(used_before_.ru_stime),
            after.ru_minflt + after.ru_majflt - used_before_.ru_minflt - used_before_.ru_majflt,
            after.ru_nivcsw - used_before_.ru_nivcsw};
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

    static rusage used() noexcept {
        rusage u{};
        ::getrusage(RUSAGE_THREAD, &u);
        return u;
    }
    static duration of(const timeval& t) noexcept {
        return std::chrono::seconds{t.tv_sec} + std::chrono::microseconds{t.tv_usec};
    }

    static inline thread_local turn_clock* current_ = nullptr;
    static inline thread_local duration aside_total_{};
    static inline thread_local int aside_depth_ = 0;

    turn_clock* before_;
    duration began_{};
    duration aside_before_{};
    rusage used_before_{};
    turn longest_{};
};

/** @brief What this thread does while the object lives is the test's, not the loop's. */
class aside {
public:
    aside() noexcept {
        if (turn_clock::aside_depth_++ == 0) {
            began_ = turn_clock::now();
        }
    }
    ~aside() {
        if (--turn_clock::aside_depth_ == 0) {
            turn_clock::aside_total_ += turn_clock::now() - began_;
        }
    }
    aside(const aside&) = delete;
    aside& operator=(const aside&) = delete;

private:
    turn_clock::duration began_{};
};

}  // namespace corozk::testing
