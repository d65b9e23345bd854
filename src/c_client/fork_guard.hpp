// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace corozk::detail {

/// While one lives, no other thread forks: between opening a descriptor and marking it as closed on
/// exec, or while a lock is held that the child could never get. Only `fork` itself waits (not
/// `posix_spawn`), and for a tenth of a second at most, because the forking thread may hold a lock
/// that is waited for here.
class fork_guard {
public:
    fork_guard();
    fork_guard(const fork_guard&) = delete;
    fork_guard& operator=(const fork_guard&) = delete;
    ~fork_guard();
};

/// How many forks there have been between the process that was first asked and this one. What has
/// been made at another number belongs to a parent.
unsigned forks() noexcept;

}  // namespace corozk::detail
