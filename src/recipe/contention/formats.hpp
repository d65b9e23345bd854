// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/contention/contention_settings.hpp"
#include <corozk/compatibility.hpp>

#include <cstdint>

namespace corozk::detail {

/// The recipes with formats of other libraries.
enum class known_recipe : std::uint8_t { lock, shared_lock, election, semaphore };

/// Settings for a recipe in the format of a library; without names if that is not supported.
contention_settings settings_in_format(known_recipe recipe, compatibility whose);

}  // namespace corozk::detail
