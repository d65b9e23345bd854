// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/contention_settings.hpp"
#include <corozk/compatibility.hpp>

#include <cstdint>

namespace corozk::detail {

/// The recipes whose contenders other libraries have, too.
enum class known_recipe : std::uint8_t { lock, shared_lock, election, semaphore };

/// Settings for the nodes of this recipe as this library makes them. There are no names in them if
/// it makes none.
contention_settings settings_in_format(known_recipe recipe, compatibility whose);

}  // namespace corozk::detail
