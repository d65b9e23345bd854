// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/signal.hpp"
#include "recipe/contention/contention_queue.hpp"

#include <memory>

namespace corozk::detail {

/// A place in a line that a driver asks for, among other things that it waits for: sets the
/// driver's signal when there is an answer. Destroying it gives up what has not been taken.
class grant_request {
public:
    grant_request(contention_queue& where, contender_request what, signal& wake)
        : state_(std::make_shared<answer>()) {
        state_->wake = &wake;
        port& p = where.get_port();
        user_call<ownership> call(p, [state = state_](error_code ec, ownership granted) {
            state->ec = ec;
            state->granted = std::move(granted);
            state->done = true;
            if (state->wake)
                state->wake->set();
        });
        contender_ = where.enter(std::move(what), std::move(call));
    }
    grant_request(const grant_request&) = delete;
    grant_request& operator=(const grant_request&) = delete;
    ~grant_request() {
        state_->wake = nullptr;
        if (!state_->done)
            abandon(boost::asio::error::operation_aborted);
    }

    bool done() const noexcept { return state_->done; }
    error_code error() const noexcept { return state_->ec; }
    ownership& granted() noexcept { return state_->granted; }

    /// Leaves nothing behind at the server, sooner or later.
    void abandon(error_code reason) {
        if (auto c = contender_.lock())
            c->abandon(reason);
    }

    /// Whether nothing of it is left at the server, or its session is over. Asked for after it has
    /// failed: then this sets the signal, too.
    bool gone() {
        if (!state_->follows) {
            state_->follows = true;
            follow();
        }
        return state_->gone;
    }

private:
    struct answer {
        signal* wake = nullptr;
        bool done = false;
        error_code ec;
        ownership granted;
        bool follows = false;
        bool gone = false;
    };

    void follow() {
        auto c = contender_.lock();
        if (!c || c->stage() == contender::stage_type::gone) {
            state_->gone = true;
            return;
        }
        user_call<> call(c->owner_port(), [state = state_](error_code) {
            state->gone = true;
            if (state->wake)
                state->wake->set();
        });
        c->wait_gone(std::move(call));
    }

    std::shared_ptr<answer> state_;
    std::weak_ptr<contender> contender_;
};

/// Sets a driver's signal when something that it holds is lost.
class loss_signal {
public:
    loss_signal(const ownership& held, signal& wake) : state_(std::make_shared<answer>()) {
        state_->wake = &wake;
        const auto& what = held.implementation();
        user_call<error_code> call(what->owner_port(),
                                   [state = state_](error_code, error_code reason) {
                                       state->reason = reason;
                                       if (state->wake)
                                           state->wake->set();
                                   });
        what->wait_lost(std::move(call));
    }
    loss_signal(const loss_signal&) = delete;
    loss_signal& operator=(const loss_signal&) = delete;
    ~loss_signal() { state_->wake = nullptr; }

    /// Why it was lost; no error if it was not, as far as is known.
    error_code reason() const noexcept { return state_->reason; }

private:
    struct answer {
        signal* wake = nullptr;
        error_code reason;
    };

    std::shared_ptr<answer> state_;
};

}  // namespace corozk::detail
