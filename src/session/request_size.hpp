// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/operation.hpp"

#include <cstddef>

namespace corozk::detail {

/// The maximum size of the request for an operation, in bytes.
std::size_t request_size(const request_fields& op) noexcept;

}  // namespace corozk::detail
