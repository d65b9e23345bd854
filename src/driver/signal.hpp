// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"

#include <coroutine>

namespace corozk::detail {

/// Wakes one driver. Sticky: if set while the driver is not waiting, the next wait returns at once.
/// It may be set for any number of causes; the driver then inspects the state, never the cause.
class signal final : private deferred {
public:
    explicit signal(port& p) noexcept : port_(p) {}

    void set() noexcept {
        if (set_)
            return;
        set_ = true;
        if (waiter_)
            port_.defer(*this);
    }

    /// The driver is about to inspect the state: what set it so far is seen.
    void clear() noexcept { set_ = false; }

    /// Awaitable: waits until it is set, and clears it.
    auto wait() noexcept {
        struct awaiter {
            signal& s;
            bool await_ready() const noexcept { return s.set_; }
            void await_suspend(std::coroutine_handle<> h) const noexcept { s.waiter_ = h; }
            void await_resume() const noexcept { s.set_ = false; }
        };
        return awaiter{*this};
    }

private:
    void run() noexcept override {
        if (waiter_)
            std::exchange(waiter_, {}).resume();
    }

    port& port_;
    std::coroutine_handle<> waiter_;
    bool set_ = false;
};

/// Sets a driver's signal at a given time.
class alarm final : private timer_node {
public:
    alarm(port& p, signal& target) noexcept : port_(p), target_(target) {}

    void set(time_point deadline) noexcept {
        rang_ = false;
        port_.start_timer(*this, deadline);
    }
    void clear() noexcept { cancel(); }
    bool rang() const noexcept { return rang_; }

private:
    void expired() noexcept override {
        rang_ = true;
        target_.set();
    }

    port& port_;
    signal& target_;
    bool rang_ = false;
};

/// A watch that sets a driver's signal, whether it fires or is dropped.
class watch_signal final : public watch_node {
public:
    explicit watch_signal(signal& target) noexcept : target_(target) {}

private:
    void fired(watch_event_type) noexcept override { target_.set(); }
    void dropped(const error_code&) noexcept override { target_.set(); }

    signal& target_;
};

/// Sets a driver's signal at every change of the session's state.
class session_signal final : public session_observer {
public:
    session_signal(port& p, signal& target) noexcept : target_(target) { p.subscribe(*this); }

private:
    void session_changed(const session_status&) noexcept override { target_.set(); }

    signal& target_;
};

}  // namespace corozk::detail
