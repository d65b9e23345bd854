// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/transaction.hpp>
#include <corozk/types.hpp>

namespace corozk::detail {

/// Whether the server appends digits to the path.
bool is_sequential(create_mode mode) noexcept;

/// Whether it needs a time to live.
bool has_ttl(create_mode mode) noexcept;

/// Why a step's path is invalid, or null if it is valid.
const char* path_problem(const transaction::step& step) noexcept;

}  // namespace corozk::detail
