// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/process_guard.hpp"

#include "pidfd.hpp"
#include "spawner.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <limits>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace corozk::testing {
namespace {

constexpr auto pidfd = static_cast<idtype_t>(P_PIDFD);

int to_poll_timeout(std::chrono::milliseconds limit) {
    using limits = std::numeric_limits<int>;
    return static_cast<int>(
        std::clamp<std::chrono::milliseconds::rep>(limit.count(), 0, limits::max()));
}

}  // namespace

process_guard::process_guard(const process_options& options) : owner_{::getpid()} {
    const auto child = detail::spawn(options);
    pid_ = child.pid;
    handle_ = child.handle;
}

process_guard::~process_guard() {
    if (::getpid() == owner_) {
        kill();
    }
    ::close(handle_);
}

bool process_guard::reap() {
    if (status_) {
        return true;
    }
    siginfo_t info{};
    if (::waitid(pidfd, static_cast<id_t>(handle_), &info, WEXITED | WNOHANG) != 0) {
        if (errno == ECHILD) {  // somebody else reaped it
            status_ = 0;
        }
    } else if (info.si_pid != 0) {
        status_ = info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
    }
    return status_.has_value();
}

bool process_guard::running() {
    const std::lock_guard lock{mutex_};
    return !reap();
}

void process_guard::signal(int number) {
    const std::lock_guard lock{mutex_};
    if (!reap()) {
        detail::signal_pidfd(handle_, number);
    }
}

void process_guard::kill() {
    signal(SIGKILL);
    while (!wait(std::chrono::hours{1})) {
    }
}

void process_guard::terminate(std::chrono::milliseconds limit) {
    signal(SIGTERM);
    if (!wait(limit)) {
        kill();
    }
}

void process_guard::stop() {
    signal(SIGSTOP);
    siginfo_t info{};
    while (::waitid(pidfd, static_cast<id_t>(handle_), &info, WSTOPPED | WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
}

void process_guard::cont() {
    signal(SIGCONT);
}

bool process_guard::wait(std::chrono::milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    for (;;) {
        if (!running()) {
            return true;
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        if (left.count() <= 0) {
            return false;
        }
        pollfd ended{.fd = handle_, .events = POLLIN, .revents = 0};
        ::poll(&ended, 1, to_poll_timeout(left));
    }
}

std::optional<int> process_guard::exit_status() {
    const std::lock_guard lock{mutex_};
    reap();
    return status_;
}

}  // namespace corozk::testing
