// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <vector>

namespace corozk::program {

/// A process that descends from another one, as /proc says.
struct descendant {
    pid_t pid = 0;
    pid_t group = 0;
};

/// Everything that descends from a process and runs, whatever sessions and groups it has made: a
/// process whose parent ended belongs to the nearest subreaper above it. Nothing where /proc is
/// missing, or is that of other process numbers.
std::vector<descendant> descendants_of(pid_t root);

}  // namespace corozk::program
