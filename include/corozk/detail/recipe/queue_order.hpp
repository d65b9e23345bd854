// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace corozk::detail {

/// What the items of a queue are ordered by; within it, by the order of the puts.
enum class queue_order : std::uint8_t { arrival, priority, due_time };

}  // namespace corozk::detail
