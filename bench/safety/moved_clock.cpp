// SPDX-License-Identifier: Apache-2.0
#include "safety/moved_clock.hpp"

#include <fcntl.h>
#include <fstream>
#include <semaphore.h>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <system_error>
#include <unistd.h>

/// Asio sets a timer that is due at once to a nanosecond after the clock's start. Once libfaketime has
/// moved that clock, it passes a negative time on, which the kernel refuses, so that the timer would
/// never expire. This definition precedes libfaketime's.
extern "C" int timerfd_settime(int timer,
                               int flags,
                               const itimerspec* time,
                               itimerspec* before) noexcept {
    return static_cast<int>(::syscall(SYS_timerfd_settime, timer, flags, time, before));
}

namespace corozk::bench {

moved_clock::moved_clock(std::filesystem::path file, bool monotonic)
    : file_(std::move(file)), monotonic_(monotonic) {
    move("+0");
}

std::map<std::string, std::string> moved_clock::environment() const {
    return {{"LD_PRELOAD", library()},
            {"FAKETIME_TIMESTAMP_FILE", file_},
            {"FAKETIME_NO_CACHE", "1"},
            {"FAKETIME_DONT_FAKE_MONOTONIC", monotonic_ ? "0" : "1"}};
}

void moved_clock::move(std::string_view by) const {
    // Never half of it: it is read at any time.
    auto next = file_;
    next += ".next";
    std::ofstream(next) << by << '\n';
    std::filesystem::rename(next, file_);
}

void moved_clock::remove_traces(pid_t killed) noexcept {
    std::string number = std::to_string(killed);
    ::shm_unlink(("/faketime_shm_" + number).c_str());
    ::sem_unlink(("/faketime_sem_" + number).c_str());
}

std::filesystem::path moved_clock::library() {
    // Debian has a folder for each architecture.
    for (const auto& folder : std::filesystem::directory_iterator("/usr/lib")) {
        auto path = folder.path() / "faketime" / "libfaketime.so.1";
        std::error_code ignored;
        if (std::filesystem::exists(path, ignored))
            return path;
    }
    return {};
}

}  // namespace corozk::bench
