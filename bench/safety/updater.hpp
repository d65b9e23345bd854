// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace corozk::bench {

/// What `worker safety` does: HOSTS SESSION_TIMEOUT_MS LOCK PROTECTION STORE NUMBER UPDATES
/// PAUSES(0|1). It says `ready`, and begins when it reads a line. Each update is a line (see
/// updates.hpp); `stopping` when it wants to be stopped between looking at the lock and
/// writing, once, in its second update, where it waits for another line; `done` at the end.
int run_updater(std::span<const std::string_view> words);

}  // namespace corozk::bench
