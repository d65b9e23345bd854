// SPDX-License-Identifier: Apache-2.0
#include "command_guard.hpp"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace corozk::program {

namespace {

/// In a process that was forked: only what is allowed between fork and exec.
[[noreturn]] void stand_guard(int pipe, pid_t group, std::chrono::milliseconds grace) {
    // Away from the terminal and its signals, and from every descriptor that somebody may wait for.
    ::setsid();
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE})
        std::signal(number, SIG_IGN);
    ::prctl(PR_SET_NAME, "corozk-guard");
    ::dup2(pipe, 0);
    if (::close_range(1, ~0U, 0) != 0) {
        for (int fd = 1; fd < 4096; ++fd)
            ::close(fd);
    }
    char word = 0;
    ssize_t count = 0;
    do {
        count = ::read(0, &word, 1);
    } while (count < 0 && errno == EINTR);
    if (count != 0)
        ::_exit(0);  // dismissed
    ::kill(-group, SIGTERM);
    ::kill(-group, SIGCONT);
    constexpr std::chrono::milliseconds step{20};
    timespec pause{0, std::chrono::nanoseconds(step).count()};
    for (auto waited = step; waited < grace && ::kill(-group, 0) == 0; waited += step)
        ::nanosleep(&pause, nullptr);
    ::kill(-group, SIGKILL);
    ::_exit(0);
}

}  // namespace

command_guard::command_guard(pid_t group, std::chrono::milliseconds grace) noexcept {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return;
    pid_ = ::fork();
    if (pid_ == 0) {
        ::close(ends[1]);
        stand_guard(ends[0], group, grace);
    }
    ::close(ends[0]);
    pipe_ = ends[1];
}

command_guard::~command_guard() {
    if (pipe_ < 0)
        return;
    char word = 'x';
    while (::write(pipe_, &word, 1) < 0 && errno == EINTR) {
    }
    ::close(pipe_);
    while (pid_ > 0 && ::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace corozk::program
