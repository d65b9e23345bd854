// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace corozk {

/** @brief The lifetime of a name. */
enum class name_lifetime : std::uint8_t {
    persistent,  ///< Until it is unregistered.
    session,     ///< That of the registering object; registered again in each session.
};

/** @brief A name and its value. */
struct name_entry {
    name_entry() = default;

    bool present = false;  ///< Whether it is registered.
    std::string name;      ///< Relative to the root or, in a list, to the listed parent.
    std::string value;     ///< The value.
    name_lifetime lifetime = name_lifetime::persistent;  ///< Persistent or session-bound.
    std::int64_t session_id = 0;  ///< The session that it is bound to; 0 for persistent names.
};

}  // namespace corozk
