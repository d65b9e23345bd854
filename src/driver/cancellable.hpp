// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/user_call.hpp"

#include <boost/asio/error.hpp>

#include <memory>
#include <utility>

namespace corozk::detail {

inline constexpr cancellation_type any_cancellation =
    cancellation_type::total | cancellation_type::partial | cancellation_type::terminal;

/// Of what cannot be undone: cancelling it only ends the waiting, and total cancellation, which
/// promises that nothing was done, is ignored.
inline constexpr cancellation_type stops_waiting =
    cancellation_type::partial | cancellation_type::terminal;

/// A call that its driver completes, or the user by cancelling it in one of the given ways; then
/// `and_then` is called as well.
template <class... Values, class AndThen>
std::shared_ptr<user_call<Values...>> cancellable(user_call<Values...> call,
                                                  cancellation_type types,
                                                  AndThen and_then) {
    auto shared = std::make_shared<user_call<Values...>>(std::move(call));
    shared->on_cancel([weak = std::weak_ptr(shared), types, and_then](cancellation_type type) {
        auto c = weak.lock();
        if (!c || (type & types) == cancellation_type::none)
            return;
        AndThen then = and_then;  // failing destroys this function
        c->fail(boost::asio::error::operation_aborted);
        then();
    });
    return shared;
}

template <class... Values>
std::shared_ptr<user_call<Values...>> cancellable(user_call<Values...> call,
                                                  cancellation_type types) {
    return cancellable(std::move(call), types, [] {});
}

}  // namespace corozk::detail
