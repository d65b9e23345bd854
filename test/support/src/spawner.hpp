// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "corozk/testing/process_guard.hpp"

#include <sys/types.h>

namespace corozk::testing::detail {

/** A started process. */
struct spawned {
    pid_t pid;
    int handle;  // pidfd
};

/**
 * Forks and executes on the process's one spawning thread, which never ends: the kernel sends the
 * parent-death signal when the thread that forked ends. Throws std::system_error.
 */
spawned spawn(const process_options& options);

}  // namespace corozk::testing::detail
