// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/path.hpp"
#include "recipe/queue/rule.hpp"
#include <corozk/recipe/queue.hpp>

#include <cstdint>
#include <string>

namespace corozk::detail {

/// What the producer and the consumer of a queue object have in common.
struct queue_settings {
    std::string path;  ///< of the parent znode
    queue_options options;
    queue_names names;

    std::string item_path(std::string_view name) const { return join_path(path, name); }
};

/// The life of an object that has a driver while there is something to do.
enum class driver_state : std::uint8_t {
    idle,
    running,
    stopping,  ///< the public object is destroyed, and the driver still runs
    stopped,
};

inline bool is_stopped(driver_state state) noexcept {
    return state >= driver_state::stopping;
}

}  // namespace corozk::detail
