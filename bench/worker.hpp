// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace corozk::bench {

/// This program as a child of itself: waiters of a contest in a process of their own. It speaks the
/// peers' language (peers/README.md): REQUESTS HOSTS SESSION_TIMEOUT_MS. @return the exit code
int run_worker(std::span<const std::string_view> words);

}  // namespace corozk::bench
