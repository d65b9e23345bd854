// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/signal.hpp"
#include "driver/user_call.hpp"
#include <corozk/error.hpp>
#include <corozk/time_limit.hpp>

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

/// A user's call that is served by a driver. On cancellation and at its deadline it completes at
/// once, regardless of what the driver is waiting for, and wakes the driver, which then cleans up.
/// All operations but acquisitions, whose contender has the timer, implement deadlines this way; see
/// `corozk::time_limit`.
template <class... Values>
class pending_call : private timer_node {
public:
    using handler_type = typename user_call<Values...>::handler_type;

    /// Heeds these types of cancellation. `wake`, if there is one, must live until it is completed.
    pending_call(user_call<Values...> call, cancellation_type types, signal* wake = nullptr)
        : call_(std::move(call)), wake_(wake) {
        call_.on_cancel([this, types](cancellation_type type) {
            if ((type & types) != cancellation_type::none)
                give_up(boost::asio::error::operation_aborted);
        });
        if (call_.has_deadline())
            call_.start(*this);
    }

    /// Heeds all types of cancellation, and fails if the client was never connected. The time limit
    /// begins now.
    pending_call(port& p,
                 signal& wake,
                 handler_type handler,
                 time_limit limit = time_limit::for_ever())
        : pending_call(
              user_call<Values...>(p, std::move(handler), limit), any_cancellation, &wake) {
        if (p.status().state == session_state::idle)
            give_up(errc::closed);
    }

    pending_call(const pending_call&) = delete;
    pending_call& operator=(const pending_call&) = delete;
    virtual ~pending_call() = default;

    bool waiting() const noexcept { return call_.waiting(); }
    const interest& users_call() const noexcept { return call_; }
    void ahead_of_copies() noexcept { call_.ahead_of_copies(); }

    /// Whether it was ended by its deadline.
    bool late() const noexcept { return late_; }

    void complete(error_code ec, Values... values) {
        timer_node::cancel();
        call_.complete(ec, std::move(values)...);
    }

    void fail(error_code ec) { complete(ec, Values()...); }

    /// The error at the deadline, instead of `errc::deadline_exceeded`.
    void set_late_error(error_code ec) noexcept { late_error_ = ec; }

    /// Completes it without the driver.
    void give_up(error_code ec) noexcept {
        // Completion destroys the slot's function, which may be the caller.
        signal* wake = wake_;
        fail(ec);
        if (wake)
            wake->set();
    }

    /// The user's call, for another one that serves it from now on.
    user_call<Values...> release() noexcept {
        timer_node::cancel();
        call_.ignore_cancellation();
        return std::move(call_);
    }

private:
    void expired() noexcept override {
        late_ = true;
        give_up(late_error_);
    }

    user_call<Values...> call_;
    signal* wake_;
    error_code late_error_ = errc::deadline_exceeded;
    bool late_ = false;
};

/// For drivers and lists that share it.
template <class... Values>
std::shared_ptr<pending_call<Values...>> cancellable(user_call<Values...> call,
                                                     cancellation_type types,
                                                     signal* wake = nullptr) {
    return std::make_shared<pending_call<Values...>>(std::move(call), types, wake);
}

template <class... Values>
std::unique_ptr<pending_call<Values...>> make_call(port& p,
                                                   signal& wake,
                                                   handler_of<Values...> handler,
                                                   time_limit limit = time_limit::for_ever()) {
    return std::make_unique<pending_call<Values...>>(p, wake, std::move(handler), limit);
}

}  // namespace corozk::detail
