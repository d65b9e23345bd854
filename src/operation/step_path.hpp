// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/transaction.hpp>
#include <corozk/types.hpp>

#include <chrono>

namespace corozk::detail {

/// Whether the server appends digits to the path.
bool is_sequential(create_mode mode) noexcept;

/// Whether it needs a time to live.
bool has_ttl(create_mode mode) noexcept;

/// Why a node cannot be created with this TTL (0: none), or null if it can.
const char* ttl_problem(create_mode mode, std::chrono::milliseconds ttl) noexcept;

/// Why a mode does not merely say whether a node ends with its session, or null if it does.
const char* plain_mode_problem(create_mode mode) noexcept;

/// Why a step's path is invalid, or null if it is valid.
const char* path_problem(const transaction::step& step) noexcept;

}  // namespace corozk::detail
