// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace corozk::bench {

/// What `worker safety` does: HOSTS SESSION_TIMEOUT_MS LOCK PROTECTION STORE NUMBER UPDATES
/// FAULT(never|before_look|after_look). It says `ready`, and begins when it reads a line. Each
/// update is a line (see updates.hpp); `holding` once, in its second update, right before or after
/// it looks at the lock for the last time: then the fault is to come, and it waits for another line
/// to write; `done` at the end. After `holding` it also says
///   told NS          when the lock first said that it is lost, by the clock of the updates
///   jumped wall      or `jumped monotonic`: a clock that has moved by more than an hour meanwhile
int run_updater(std::span<const std::string_view> words);

}  // namespace corozk::bench
