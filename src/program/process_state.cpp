// SPDX-License-Identifier: Apache-2.0
#include "process_state.hpp"

#include <cerrno>
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace corozk::program {

namespace {

struct found {
    sigset_t mask;
    struct sigaction pipe;
    struct sigaction file_size;
    struct sigaction child;
};

found& at_start() noexcept {
    static found state{};
    return state;
}

/// Opened in the wrong direction, so that reads and writes fail as on a closed one. Closed by exec.
void occupy_closed_streams() noexcept {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            int direction = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
            static_cast<void>(::open("/dev/null", direction | O_CLOEXEC));
        }
    }
}

}  // namespace

void set_up_process() noexcept {
    occupy_closed_streams();
    ::pthread_sigmask(SIG_SETMASK, nullptr, &at_start().mask);
    struct sigaction action {};
    action.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &action, &at_start().pipe);
    ::sigaction(SIGXFSZ, &action, &at_start().file_size);
    // If it is ignored, the exit status of children is discarded.
    action.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &action, &at_start().child);
}

signal_sets block_signals() noexcept {
    signal_sets sets{};
    ::sigemptyset(&sets.children);
    ::sigaddset(&sets.children, SIGCHLD);
    ::sigemptyset(&sets.requests);
    for (int number : request_signals) {
        struct sigaction action {};
        if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
            ::sigaddset(&sets.requests, number);
    }
    ::pthread_sigmask(SIG_BLOCK, &sets.requests, nullptr);
    ::pthread_sigmask(SIG_BLOCK, &sets.children, nullptr);
    return sets;
}

void restore_process() noexcept {
    ::sigaction(SIGPIPE, &at_start().pipe, nullptr);
    ::sigaction(SIGXFSZ, &at_start().file_size, nullptr);
    ::sigaction(SIGCHLD, &at_start().child, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &at_start().mask, nullptr);
}

void end_by(int signal) noexcept {
    ::prctl(PR_SET_DUMPABLE, 0);  // the core dump of interest is the command's
    std::signal(signal, SIG_DFL);
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, signal);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    ::raise(signal);
}

}  // namespace corozk::program
