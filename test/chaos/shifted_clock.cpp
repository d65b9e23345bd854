// SPDX-License-Identifier: Apache-2.0
#include "shifted_clock.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

std::atomic<std::int64_t> monotonic_offset{0};  // in milliseconds
std::atomic<std::int64_t> wall_offset{0};
std::atomic<unsigned> disturbed{0};

void shift(timespec& t, std::int64_t milliseconds) noexcept {
    std::int64_t nanoseconds = t.tv_nsec + milliseconds % 1'000 * 1'000'000;
    t.tv_sec += milliseconds / 1'000;
    if (nanoseconds < 0) {
        nanoseconds += 1'000'000'000;
        --t.tv_sec;
    }
    t.tv_sec += nanoseconds / 1'000'000'000;
    t.tv_nsec = nanoseconds % 1'000'000'000;
}

bool is_monotonic(clockid_t id) noexcept {
    return id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_RAW || id == CLOCK_MONOTONIC_COARSE ||
           id == CLOCK_BOOTTIME;
}

void on_signal(int number, siginfo_t* info, void*) {
    if (number != SIGUSR2)
        ++disturbed;
    if (number == SIGCONT)
        return;
    auto& offset = number == SIGUSR1 ? monotonic_offset : wall_offset;
    offset += info->si_value.sival_int;
}

}  // namespace

// In place of the C library's, for all libraries of the process.
extern "C" int clock_gettime(clockid_t id, timespec* t) noexcept {
    auto result = static_cast<int>(::syscall(SYS_clock_gettime, id, t));
    if (result == 0 && is_monotonic(id))
        shift(*t, monotonic_offset);
    if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        shift(*t, wall_offset);
    return result;
}

extern "C" int gettimeofday(timeval* t, void*) noexcept {
    timespec exact{};
    int result = clock_gettime(CLOCK_REALTIME, &exact);
    if (result == 0) {
        t->tv_sec = exact.tv_sec;
        t->tv_usec = exact.tv_nsec / 1'000;
    }
    return result;
}

namespace corozk::chaos {

void obey_clock_signals() {
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (int number : {SIGUSR1, SIGUSR2, SIGCONT})
        ::sigaction(number, &action, nullptr);
}

unsigned disturbances() noexcept {
    return disturbed;
}

}  // namespace corozk::chaos
