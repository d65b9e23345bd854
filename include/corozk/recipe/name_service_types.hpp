// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace corozk {

/** @brief How long a name lives. */
enum class name_lifetime : std::uint8_t {
    persistent,  ///< until it is unregistered
    session,     ///< as long as the object that registered it; renewed with each session
};

/** @brief A name and what it stands for. */
struct name_entry {
    name_entry() = default;

    bool present = false;  ///< whether it is registered
    std::string name;      ///< Relative to the root; in a list, to its folder.
    std::string value;     ///< What it stands for.
    name_lifetime lifetime = name_lifetime::persistent;  ///< How long it lives.
    std::int64_t session_id = 0;  ///< of the one who registered it; 0 for persistent names
};

}  // namespace corozk
