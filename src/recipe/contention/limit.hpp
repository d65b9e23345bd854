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

/// A limit as it stands in a folder's data: a positive decimal number.
std::optional<std::int32_t> parse_limit(std::string_view data) noexcept;

/// Reads the limit, and leaves a watch if one is given. Makes the folder, of that mode, if it is
/// missing, and writes `initial` where no limit is written: of several who do that the first one
/// counts.
/// @return `foreign_data` if the folder's data is something else.
task<error_code> find_limit(port& p,
                            std::string folder,
                            acl entries,
                            create_mode mode,
                            std::int32_t initial,
                            watch_node* watch,
                            known_limit& limit);

/// Writes another limit. An answer that was lost does not make it overwrite what came later.
task<error_code> change_limit(port& p,
                              std::string folder,
                              acl entries,
                              create_mode mode,
                              std::int32_t limit);

}  // namespace corozk::detail
