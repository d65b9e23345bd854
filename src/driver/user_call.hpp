// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/bound_result.hpp"
#include "driver/port.hpp"
#include <corozk/time_limit.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <utility>

namespace corozk::detail {

using boost::asio::cancellation_type;

/// A user's completion handler, with its cancellation slot, that is completed by a driver. Only the
/// first completion counts. The handler is dropped without being called only together with the
/// session: if the session or, as part of its destruction, the pending call is destroyed.
template <class... Values>
class user_call final : public unfinished_call {
public:
    using handler_type = handler_of<Values...>;

    user_call() = default;

    /// The port outlives all pending calls.
    user_call(port& p, handler_type handler) : port_(&p), handler_(std::move(handler)) {
        p.watch_over(*this);
    }

    /// With a time limit that begins now; see `pending_call`.
    user_call(port& p, handler_type handler, time_limit limit) : user_call(p, std::move(handler)) {
        deadline_ = limit.from(p.now());
    }

    user_call(user_call&& other) noexcept { swap(other); }

    user_call& operator=(user_call&& other) noexcept {
        user_call taken(std::move(other));
        swap(taken);
        return *this;
    }

    /// Whether the handler has not been completed yet.
    bool waiting() const noexcept override { return static_cast<bool>(handler_); }

    /// The result must not wait for local copies (see `local_copy`), or is read from them.
    void ahead_of_copies() noexcept { deadline_ = time_point::min(); }

    /// Also limits how long completion waits for local copies.
    void set_deadline(time_point deadline) noexcept { deadline_ = deadline; }

    bool has_deadline() const noexcept {
        return deadline_ != time_point::max() && deadline_ != time_point::min();
    }

    /// Starts a timer that ends at the deadline.
    void start(timer_node& timer) const { port_->start_timer(timer, deadline_); }

    /// Calls `f(cancellation_type)`, which may call `complete`, when the user cancels. Objects that
    /// `f` refers to must live until the call is completed.
    template <class Function>
    void on_cancel(Function f) {
        auto slot = boost::asio::get_associated_cancellation_slot(handler_);
        if (slot.is_connected()) {
            slot.assign([f = std::move(f)](cancellation_type type) mutable { f(type); });
        }
    }

    /// The function that was given to `on_cancel` is not called any more.
    void ignore_cancellation() noexcept {
        if (waiting())
            disconnect();
    }

    void complete(error_code ec, Values... values) {
        if (!waiting())
            return;
        port& owner = *port_;
        const bool wait = !ec && deadline_ != time_point::min() && owner.copies_owe();
        const time_point deadline = deadline_;
        handler_type handler = take();
        // This has destroyed the slot's function, which may be the caller: do not touch it.
        auto slot = boost::asio::get_associated_cancellation_slot(handler);
        completion result =
            bound_result<Values...>::make(std::move(handler), ec, std::move(values)...);
        if (wait)
            owner.complete_after_copies(std::move(result), slot, deadline);
        else
            owner.complete(std::move(result));
    }

    /// Completes with an error and empty values.
    void fail(error_code ec) { complete(ec, Values()...); }

private:
    void swap(user_call& other) noexcept {
        std::swap(port_, other.port_);
        handler_.swap(other.handler_);  // Boost 1.81's move assignment never returns
        std::swap(deadline_, other.deadline_);
        relink();
        other.relink();
    }

    void relink() noexcept {
        unlink();
        if (waiting())
            port_->watch_over(*this);
    }

    void disconnect() noexcept {
        auto slot = boost::asio::get_associated_cancellation_slot(handler_);
        if (slot.is_connected())
            slot.clear();
    }

    handler_type take() noexcept {
        unlink();
        disconnect();
        return std::move(handler_);
    }

    void drop() noexcept override {
        if (waiting())
            handler_type last = take();
    }

    port* port_ = nullptr;
    handler_type handler_;
    time_point deadline_ = time_point::max();
};

}  // namespace corozk::detail
