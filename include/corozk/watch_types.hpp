// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace corozk {

/** @brief What happened to a watched node. A hint to look again, never a fact to act on. */
enum class watch_event_type : std::uint8_t {
    created,
    erased,
    data_changed,
    children_changed,
    unknown,  ///< something may have happened while the connection was away
};

/** @brief The name of an event type, such as "erased". */
COROZK_DECL std::string_view to_string(watch_event_type type) noexcept;

/** @brief One notification. */
struct watch_event {
    watch_event() = default;
    watch_event(watch_event_type type_, std::string path_) : type(type_), path(std::move(path_)) {}

    watch_event_type type = watch_event_type::unknown;  ///< What happened.
    std::string path;                                   ///< To which node.
};

}  // namespace corozk
