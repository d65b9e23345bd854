// SPDX-License-Identifier: Apache-2.0
#include "stopped_clock.hpp"

#include <ctime>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

// Of this thread; 0 while its clock goes.
thread_local std::chrono::nanoseconds stopped_at{0};

int ask_kernel(clockid_t id, timespec* t) noexcept {
    return static_cast<int>(::syscall(SYS_clock_gettime, id, t));
}

}  // namespace

// In place of the C library's, for all libraries of the process.
extern "C" int clock_gettime(clockid_t id, timespec* t) noexcept {
    if (id != CLOCK_MONOTONIC || stopped_at.count() == 0)
        return ask_kernel(id, t);
    auto seconds = std::chrono::duration_cast<std::chrono::seconds>(stopped_at);
    t->tv_sec = seconds.count();
    t->tv_nsec = (stopped_at - seconds).count();
    return 0;
}

namespace corozk::testing {

stopped_clock::stopped_clock() {
    stopped_at = real();
}

stopped_clock::~stopped_clock() {
    stopped_at = std::chrono::nanoseconds(0);
}

void stopped_clock::turn(std::chrono::milliseconds by) noexcept {
    stopped_at += by;
}

std::chrono::nanoseconds stopped_clock::real() noexcept {
    timespec t{};
    ask_kernel(CLOCK_MONOTONIC, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

}  // namespace corozk::testing
