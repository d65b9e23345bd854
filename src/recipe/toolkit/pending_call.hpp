// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/signal.hpp"
#include "driver/user_call.hpp"
#include <corozk/time_limit.hpp>

#include <boost/asio/error.hpp>

#include <memory>
#include <utility>

namespace corozk::detail {

/// A user's call that is served by a driver. On cancellation and at its deadline it completes at
/// once, regardless of what the driver is waiting for, and wakes the driver, which then cleans up.
/// All recipes implement deadlines this way; see `corozk::time_limit`.
template <class... Values>
class pending_call : private timer_node {
public:
    using handler_type = typename user_call<Values...>::handler_type;

    /// `owner` must live until the call is completed. The time limit begins now.
    pending_call(port& p,
                 signal& owner,
                 handler_type handler,
                 time_limit limit = time_limit::for_ever())
        : call_(p, std::move(handler)), owner_(owner) {
        const time_point deadline = limit.from(p.now());
        call_.on_cancel(
            [this](cancellation_type) { give_up(boost::asio::error::operation_aborted); });
        call_.set_deadline(deadline);
        if (deadline != time_point::max())
            p.start_timer(*this, deadline);
        if (p.status().state == session_state::idle)
            give_up(errc::closed);
    }
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
        signal& owner = owner_;
        fail(ec);
        owner.set();
    }

private:
    void expired() noexcept override {
        late_ = true;
        give_up(late_error_);
    }

    user_call<Values...> call_;
    signal& owner_;
    error_code late_error_ = errc::deadline_exceeded;
    bool late_ = false;
};

template <class... Values>
std::unique_ptr<pending_call<Values...>> make_call(port& p,
                                                   signal& wake,
                                                   handler_of<Values...> handler,
                                                   time_limit limit = time_limit::for_ever()) {
    return std::make_unique<pending_call<Values...>>(p, wake, std::move(handler), limit);
}

}  // namespace corozk::detail
