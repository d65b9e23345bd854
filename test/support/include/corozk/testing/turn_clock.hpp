// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <ctime>
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

    turn_clock() noexcept : before_{current_} { current_ = this; }
    ~turn_clock() { current_ = before_; }
    turn_clock(const turn_clock&) = delete;
    turn_clock& operator=(const turn_clock&) = delete;

    void begin() noexcept {
        aside_before_ = aside_total_;
        began_ = now();
    }

    void end() noexcept {
        const auto took = now() - began_ - (aside_total_ - aside_before_);
        longest_ = took > longest_ ? took : longest_;
    }

    duration longest() const noexcept { return longest_; }

    /** @brief The longest since the last call. */
    duration take_longest() noexcept { return std::exchange(longest_, duration{}); }

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

    static inline thread_local turn_clock* current_ = nullptr;
    static inline thread_local duration aside_total_{};
    static inline thread_local int aside_depth_ = 0;

    turn_clock* before_;
    duration began_{};
    duration aside_before_{};
    duration longest_{};
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
