// SPDX-License-Identifier: Apache-2.0
// A process that crashes says where.
#pragma once

#include <csignal>
#include <execinfo.h>
#include <unistd.h>

namespace corozk::testing {

inline constexpr const char* crash_head = "crashed; the stack:";

inline void report_crash(int number) {
    void* frames[64];
    int count = ::backtrace(frames, 64);
    const char head[] = "crashed; the stack:\n";
    [[maybe_unused]] auto n = ::write(STDERR_FILENO, head, sizeof head - 1);
    ::backtrace_symbols_fd(frames, count, STDERR_FILENO);
    std::signal(number, SIG_DFL);
    std::raise(number);
}

/// From now on a crash writes the stack to standard error, module and offset of each frame.
inline void report_crashes() {
    void* warm_up[1];
    ::backtrace(warm_up, 1);  // loads what it needs: not inside a handler
    for (int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL})
        std::signal(number, report_crash);
}

}  // namespace corozk::testing
