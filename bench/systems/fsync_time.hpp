// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "statistics.hpp"

namespace corozk::bench {

/// How long it takes to append a few bytes to a file and to have them on the disk on which servers
/// keep their data (fdatasync). Blocks for a moment.
latencies fsync_times();

}  // namespace corozk::bench
