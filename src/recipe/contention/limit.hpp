// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "recipe/contention/limit_state.hpp"
#include <corozk/types.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace corozk::detail {

/// Parses the parent's data: a positive decimal number, also as Kazoo or a person may write it.
std::optional<std::int32_t> parse_limit(std::string_view data) noexcept;

/// Reads the limit, with a watch if one is given. Creates the parent if it does not exist, and
/// writes the initial limit if there is none; the first writer wins. Nothing more is sent once the
/// call, if there is one, is over.
/// @return `foreign_data` if the parent's data is not a limit
task<error_code> find_limit(port& p,
                            const contention_settings& settings,
                            watch_node* watch,
                            known_limit& limit,
                            const interest* call = nullptr);

/// Changes the limit. A retry after a lost response does not overwrite later changes. Nothing more is
/// sent once the call is over.
task<error_code> change_limit(port& p,
                              const contention_settings& settings,
                              std::int32_t limit,
                              const interest& call);

}  // namespace corozk::detail
