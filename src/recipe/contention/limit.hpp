// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "recipe/contention/limit_state.hpp"
#include <corozk/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace corozk::detail {

/// A limit as it is stored in the parent's data: a positive decimal number.
std::optional<std::int32_t> parse_limit(std::string_view data) noexcept;

/// Reads the limit, and leaves a watch if one is given. Creates the parent if it is missing, and
/// writes the initial limit where none is written: of several who do that the first one counts.
/// @return `foreign_data` if the parent's data is something else.
task<error_code> find_limit(port& p,
                            const contention_settings& settings,
                            watch_node* watch,
                            known_limit& limit);

/// Writes another limit. An answer that was lost does not make it overwrite what came later.
task<error_code> change_limit(port& p, const contention_settings& settings, std::int32_t limit);

}  // namespace corozk::detail
