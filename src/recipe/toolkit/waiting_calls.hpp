// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/sweep.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include <corozk/time_limit.hpp>

#include <algorithm>
#include <list>
#include <type_traits>
#include <utility>

namespace corozk::detail {

/// The calls of an object that wait for the same.
template <class... Values>
class waiting_calls {
public:
    waiting_call<Values...>& add(recipe_core& core,
                                 handler_of<Values...> handler,
                                 signal& wake,
                                 time_limit limit = time_limit::for_ever()) {
        sweep_(calls_, [](const auto& call) { return call.over(); });
        return calls_.emplace_back(core, std::move(handler), wake, limit);
    }

    /// Whether one of them is not over.
    bool any() const noexcept {
        return std::any_of(
            calls_.begin(), calls_.end(), [](const auto& call) { return !call.over(); });
    }

    void complete(error_code ec, const std::type_identity_t<Values>&... values) {
        for (auto& call : std::exchange(calls_, {}))
            call.complete(ec, values...);
    }

    /// Adds those of another one, which has none afterwards.
    void take(waiting_calls& other) { calls_.splice(calls_.end(), other.calls_); }

private:
    std::list<waiting_call<Values...>> calls_;
    sweep sweep_;
};

}  // namespace corozk::detail
