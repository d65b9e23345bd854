// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"

#include <coroutine>

namespace corozk::detail {

/// Wakes one driver. Sticky: what is set while nobody waits is seen by the next wait. Any number of
/// causes may set it; the driver then looks at the state of things, never at the cause.
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

    /// Awaitable: until `set`, which is cleared again.
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

/// Wakes a driver through its signal at a time.
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

/// A watch that wakes a driver. "Fired" and "dropped" mean the same: look again.
class watch_signal final : public watch_node {
public:
    explicit watch_signal(signal& target) noexcept : target_(target) {}

private:
    void fired(watch_event_type) noexcept override { target_.set(); }
    void dropped(const error_code&) noexcept override { target_.set(); }

    signal& target_;
};

/// Wakes a driver at every change of the session's state.
class session_signal final : public session_observer {
public:
    session_signal(port& p, signal& target) noexcept : target_(target) { p.subscribe(*this); }

private:
    void session_changed(const session_status&) noexcept override { target_.set(); }

    signal& target_;
};

}  // namespace corozk::detail
