// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "driver/signal.hpp"
#include "driver/user_call.hpp"
#include "recipe/toolkit/path_check.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/system_executor.hpp>

#include <memory>
#include <utility>

namespace corozk::detail {

/// A user's call that a driver works for. It ends at once, whatever the driver waits for, when the
/// user cancels it and at its deadline; that wakes the driver, which finds it no longer waiting and
/// cleans up behind it. This is the rule for deadlines of all recipes; see `corozk::time_limit`.
template <class... Values>
class pending_call : private timer_node {
public:
    using handler_type = typename user_call<Values...>::handler_type;

    /// `owner` must live until the call is completed.
    pending_call(port& p, signal& owner, handler_type handler, time_point deadline)
        : call_(p, std::move(handler)), owner_(owner) {
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
    void ahead_of_copies() noexcept { call_.ahead_of_copies(); }

    /// Whether it has ended at its deadline.
    bool late() const noexcept { return late_; }

    void complete(error_code ec, Values... values) {
        timer_node::cancel();
        call_.complete(ec, std::move(values)...);
    }

    void fail(error_code ec) { complete(ec, Values()...); }

    /// What to say at the deadline instead of `errc::deadline_exceeded`.
    void set_late_error(error_code ec) noexcept { late_error_ = ec; }

    /// Ends it without the driver's help.
    void give_up(error_code ec) noexcept {
        // Completing destroys the cancellation slot's function, through which we may be called.
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

class session;

/// Whether the object had been destroyed when its operation began (which may be long after it was
/// made: `asio::deferred`).
template <class Impl>
bool has_stopped(const Impl& impl) noexcept {
    if constexpr (requires { impl.stopped(); })
        return impl.stopped();
    else
        return false;
}

/// Whether there is a client and what is behind the object, which has not been destroyed; if not,
/// the handler has been completed.
template <class Impl, class... Values>
bool ready(const std::shared_ptr<Impl>& impl, any_handler<void(error_code, Values...)>& handler) {
    if (!impl) {
        immediate_result<Values...>(
            boost::asio::system_executor(), std::move(handler), errc::closed, Values()...);
        return false;
    }
    if (!has_stopped(*impl))
        return true;
    immediate_result<Values...>(impl->owner().executor(),
                                std::move(handler),
                                boost::asio::error::operation_aborted,
                                Values()...);
    return false;
}

/// The same where the object's path has to be a good one, too.
template <class Impl, class... Values>
bool ready_at_path(const std::shared_ptr<Impl>& impl,
                   any_handler<void(error_code, Values...)>& handler) {
    if (!ready(impl, handler))
        return false;
    if (impl->path_is_good())
        return true;
    immediate_result<Values...>(
        impl->owner().executor(), std::move(handler), errc::bad_path, Values()...);
    return false;
}

template <class... Values>
std::unique_ptr<pending_call<Values...>> make_call(port& p,
                                                   signal& wake,
                                                   any_handler<void(error_code, Values...)> handler,
                                                   time_point deadline = time_point::max()) {
    return std::make_unique<pending_call<Values...>>(p, wake, std::move(handler), deadline);
}

}  // namespace corozk::detail
