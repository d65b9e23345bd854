// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <sys/types.h>

namespace corozk::bench {

/// What this process uses of the machine.
namespace usage {

/// CPU time of all threads, in seconds.
double process_cpu_seconds();

/// CPU time of another process, in seconds; 0 if there is none.
double process_cpu_seconds(pid_t process);

/// Bytes that were allocated from malloc and not freed, its own overhead included.
double heap_bytes();

/// Bytes of memory that the process occupies, after giving back what malloc does not use.
double resident_bytes();

/// Open descriptors.
std::size_t descriptors();

std::size_t threads();

/// Of another process; 0 if there is none.
std::size_t threads(pid_t process);

}  // namespace usage

}  // namespace corozk::bench
