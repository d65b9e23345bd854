// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace corozk {

/** @brief The type of a watch event. A hint to read again, not a fact to act on. */
enum class watch_event_type : std::uint8_t {
    created,
    erased,
    data_changed,
    children_changed,
    unknown,  ///< Anything may have changed, for example while disconnected: read again.
};

/** @brief The name of an event type, such as "erased". */
COROZK_DECL std::string_view to_string(watch_event_type type) noexcept;

/** @brief What a persistent watch reports. */
enum class watch_mode : std::uint8_t {
    persistent,  ///< Creation, change and deletion of a node, and of its children's names.
    persistent_recursive,  ///< Creation, change and deletion of a node and of all its descendants.
};

/** @brief A watch event. */
struct watch_event {
    watch_event() = default;
    watch_event(watch_event_type type_, std::string path_) : type(type_), path(std::move(path_)) {}

    watch_event_type type = watch_event_type::unknown;  ///< The kind of change.
    std::string path;  ///< The watched node, or, of a recursive watch, the one that changed.
};

}  // namespace corozk
