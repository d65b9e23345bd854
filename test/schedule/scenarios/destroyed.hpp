// SPDX-License-Identifier: Apache-2.0
// Somebody destroys an object while it is used, and another client does the like: what waits is told
// so, what goes on goes on, and nothing is left.
#pragma once

#include "patience.hpp"
#include "turns.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace corozk::schedule {

/// Until whoever waits for what may never come gives up.
inline constexpr std::chrono::seconds a_while{20};

/// @return whether to go on with the object
template <class Object>
bool goes_on(actor& a,
             const std::optional<Object>& object,
             const error_code& ec,
             const char* during) {
    if (!object && ec == boost::asio::error::operation_aborted)
        return false;
    return a.may_see(ec, during) && !ec && object;
}

/// What gives up after a while has done no wrong.
inline bool has_waited(actor& a, const error_code& ec, const char* during) {
    return ec == errc::deadline_exceeded || a.may_see(ec, during);
}

template <class Object>
using use_of = awaitable<void> (*)(actor&, std::optional<Object>&);

template <class Object>
awaitable<void> destroy(actor& a, std::shared_ptr<std::optional<Object>> object) {
    co_await a.gate("destroying");
    object->reset();
}

/// The first client uses the object; at some time it is destroyed.
template <class Object>
void play_until_destroyed(stage& s, Object made, use_of<Object> use) {
    auto object = std::make_shared<std::optional<Object>>(std::move(made));
    s.play("user", 0, [object, use](actor& a) { return use(a, *object); });
    s.play("destroys", 0, [object](actor& a) { return destroy(a, object); });
}

}  // namespace corozk::schedule
