// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace corozk::detail {

/// Prevents other threads from forking: between opening a descriptor and setting close-on-exec, or
/// while a lock is held that the child could never acquire. Only `fork` waits (not `posix_spawn`),
/// and for at most 100 ms, because the forking thread may hold a lock that this thread waits for.
class fork_guard {
public:
    fork_guard();
    fork_guard(const fork_guard&) = delete;
    fork_guard& operator=(const fork_guard&) = delete;
    ~fork_guard();
};

/// Number of forks between this process and the one that called it first. Anything created at a
/// different number belongs to a parent process.
unsigned forks() noexcept;

}  // namespace corozk::detail
