// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/operation.hpp"

#include <cstddef>

namespace corozk::detail {

/// How large the request is that the C client makes of an operation, at the most. Bytes.
/// @param chroot  the length of what it puts in front of each path
std::size_t request_size(const operation& op, std::size_t chroot) noexcept;

}  // namespace corozk::detail
