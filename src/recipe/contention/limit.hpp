// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include <corozk/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace corozk::detail {

/// A limit as it stands in a folder's data: a positive decimal number.
std::optional<std::int32_t> parse_limit(std::string_view data) noexcept;

/// A limit, and the version of the folder's data that says so.
struct known_limit {
    std::int32_t value = 0;
    std::int32_t version = 0;
};

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
