// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

namespace corozk::detail {

/// Suppresses the SIGPIPE of writes to a closed connection, which OpenSSL cannot avoid. The signal
/// is sent to the writing thread, so it is blocked and consumed here. One that was pending before
/// belongs to the program and is left alone.
class sigpipe_blocker {
public:
    sigpipe_blocker() noexcept {
        if (pending())
            return;
        sigemptyset(&sigpipe_);
        sigaddset(&sigpipe_, SIGPIPE);
        blocked_ = pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_) == 0;
    }
    sigpipe_blocker(const sigpipe_blocker&) = delete;
    sigpipe_blocker& operator=(const sigpipe_blocker&) = delete;
    ~sigpipe_blocker() {
        if (!blocked_)
            return;
        int error = errno;
        if (pending()) {
            timespec at_once{};
            while (sigtimedwait(&sigpipe_, nullptr, &at_once) == -1 && errno == EINTR) {
            }
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        errno = error;
    }

private:
    static bool pending() noexcept {
        sigset_t signals;
        sigemptyset(&signals);
        return sigpending(&signals) == 0 && sigismember(&signals, SIGPIPE) == 1;
    }

    bool blocked_ = false;
    sigset_t sigpipe_;
    sigset_t before_;
};

}  // namespace corozk::detail
