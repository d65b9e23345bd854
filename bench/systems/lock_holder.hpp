// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace corozk::bench {

/// What `worker systems` does: SYSTEM HOSTS RECIPE NAME TIMEOUT_MS. It acquires, says `holding`, and
/// holds it until it is killed.
int run_lock_holder(std::span<const std::string_view> words);

}  // namespace corozk::bench
