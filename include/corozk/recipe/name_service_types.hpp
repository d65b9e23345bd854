// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace corozk {

/** @brief A name and its value. */
struct name_entry {
    name_entry() = default;

    bool present = false;         ///< Whether it is registered.
    std::string name;             ///< Relative to the root or, in a list, to the listed parent.
    std::string value;            ///< The value.
    std::int64_t session_id = 0;  ///< The session of an ephemeral name; 0 for a persistent one.
};

}  // namespace corozk
