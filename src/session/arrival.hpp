// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "c_client/handle.hpp"
#include "operation/operation.hpp"
#include <corozk/watch_types.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace corozk::detail {

/// A response or event that has arrived.
struct arrival {
    enum class kind_type : std::uint8_t { answer, session_event, watch_event };

    explicit arrival(operation& answered) : kind(kind_type::answer), op(&answered) {}
    explicit arrival(handle_state s) : kind(kind_type::session_event), session(s) {}
    arrival(watch_event_type type, std::string where)
        : kind(kind_type::watch_event), watch(type), path(std::move(where)) {}

    kind_type kind;
    handle_state session = handle_state::disconnected;
    watch_event_type watch = watch_event_type::unknown;
    operation* op = nullptr;
    std::string path;
};

}  // namespace corozk::detail
