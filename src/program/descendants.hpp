// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <vector>

namespace corozk::program {

/// A process that descends from another one, according to /proc.
struct descendant {
    pid_t pid = 0;
    pid_t group = 0;
};

/// All running descendants of a process, in any session and process group: a process whose parent has
/// ended belongs to the nearest subreaper above it. Empty without /proc, or with that of another PID
/// namespace.
/// @param except  left out, with their own descendants
std::vector<descendant> descendants_of(pid_t root, const std::vector<descendant>& except = {});

}  // namespace corozk::program
