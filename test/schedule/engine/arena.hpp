// SPDX-License-Identifier: Apache-2.0
// The memory that schedules allocate: at one place, so that it can be copied. Its books are in it, and
// are put back with it.
#pragma once

#include <cstddef>

namespace corozk::schedule::arena {

/// Not where a sanitizer has malloc() for itself.
bool available() noexcept;

/// Whether malloc() and new take from it now.
bool& in_use() noexcept;

/// As if nothing had ever been allocated.
void clear() noexcept;

/// What is taken, books included.
char* begin() noexcept;
std::size_t size() noexcept;

/// As large as it may become.
std::size_t capacity() noexcept;

}  // namespace corozk::schedule::arena
