// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/signal.hpp"
#include "driver/user_call.hpp"

#include <boost/asio/error.hpp>

#include <memory>
#include <utility>

namespace corozk::detail {

inline constexpr cancellation_type any_cancellation =
    cancellation_type::total | cancellation_type::partial | cancellation_type::terminal;

/// For operations that cannot be undone: cancellation only stops waiting for them, and total
/// cancellation, which would promise that nothing has happened, is ignored.
inline constexpr cancellation_type stops_waiting =
    cancellation_type::partial | cancellation_type::terminal;

/// A call that is completed by its driver or by one of the given types of cancellation, which wakes
/// the driver if that waits for a signal.
template <class... Values>
std::shared_ptr<user_call<Values...>> cancellable(user_call<Values...> call,
                                                  cancellation_type types,
                                                  signal* wake = nullptr) {
    auto shared = std::make_shared<user_call<Values...>>(std::move(call));
    shared->on_cancel([weak = std::weak_ptr(shared), types, wake](cancellation_type type) {
        auto c = weak.lock();
        if (!c || (type & types) == cancellation_type::none)
            return;
        signal* driver = wake;  // `fail` destroys this function
        c->fail(boost::asio::error::operation_aborted);
        if (driver)
            driver->set();
    });
    return shared;
}

}  // namespace corozk::detail
