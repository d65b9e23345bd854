// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace corozk::testing::detail {

// The header <sys/pidfd.h> of glibc 2.36 cannot be used from C++: it declares C++ functions.

inline int open_pidfd(pid_t pid) {
    return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

inline void signal_pidfd(int handle, int number) {
    ::syscall(SYS_pidfd_send_signal, handle, number, nullptr, 0);
}

}  // namespace corozk::testing::detail
