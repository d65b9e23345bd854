// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/bound_result.hpp"
#include "driver/port.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <memory>
#include <utility>

namespace corozk::detail {

using boost::asio::cancellation_type;

/// A user's completion handler, with its cancellation slot, that is completed by a driver. Only the
/// first completion counts. The handler is dropped without being called only together with the
/// session: if the session or, as part of its destruction, the pending call is destroyed.
template <class... Values>
class user_call {
public:
    using handler_type = any_handler<void(error_code, Values...)>;

    user_call() = default;

    user_call(port& p, handler_type handler)
        : state_(std::make_unique<call_state>(p, std::move(handler))) {}

    user_call(user_call&&) noexcept = default;
    user_call& operator=(user_call&&) noexcept = default;

    /// Whether the handler has not been completed yet.
    bool waiting() const noexcept { return state_ && state_->handler; }

    /// The result must not wait for local copies (see `local_copy`), or is read from them.
    void ahead_of_copies() noexcept { state_->ahead_of_copies = true; }

    /// Limits how long completion waits for local copies.
    void set_deadline(time_point deadline) noexcept { state_->deadline = deadline; }

    /// Calls `f(cancellation_type)`, which may call `complete`, when the user cancels. Objects that
    /// `f` refers to must live until the call is completed.
    template <class Function>
    void on_cancel(Function f) {
        auto slot = boost::asio::get_associated_cancellation_slot(state_->handler);
        if (slot.is_connected()) {
            slot.assign([f = std::move(f)](cancellation_type type) mutable { f(type); });
        }
    }

    void complete(error_code ec, Values... values) {
        if (!waiting())
            return;
        handler_type handler = state_->take();
        // This has destroyed the slot's function, which may be the caller: do not touch it.
        port& owner = state_->owner;
        const bool wait = !ec && !state_->ahead_of_copies && owner.copies_owe();
        const time_point deadline = state_->deadline;
        auto slot = boost::asio::get_associated_cancellation_slot(handler);
        completion result =
            bound_result<Values...>(owner.executor(), std::move(handler), ec, std::move(values)...);
        if (wait)
            owner.complete_after_copies(std::move(result), slot, deadline);
        else
            owner.complete(std::move(result));
    }

    /// Completes with an error and empty values.
    void fail(error_code ec) { complete(ec, Values()...); }

private:
    struct call_state final : unfinished_call {
        call_state(port& p, handler_type h) : owner(p), handler(std::move(h)) {
            p.watch_over(*this);
        }

        handler_type take() noexcept {
            auto slot = boost::asio::get_associated_cancellation_slot(handler);
            if (slot.is_connected())
                slot.clear();
            return std::exchange(handler, nullptr);
        }
        void drop() noexcept override {
            if (handler)
                handler_type last = take();
        }

        port& owner;  ///< outlives all pending calls
        handler_type handler;
        time_point deadline = time_point::max();
        bool ahead_of_copies = false;
    };

    std::unique_ptr<call_state> state_;
};

}  // namespace corozk::detail
