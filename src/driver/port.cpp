// SPDX-License-Identifier: Apache-2.0
#include "driver/port.hpp"

#include <algorithm>
#include <coroutine>
#include <exception>
#include <utility>

namespace corozk::detail {

namespace {

using driver_list =
    boost::intrusive::list<driver_root, boost::intrusive::constant_time_size<false>>;

/// A coroutine that starts eagerly and destroys itself when it ends.
struct detached {
    struct promise_type final : driver_root {
        promise_type(driver_list& drivers, task<>&) { drivers.push_back(*this); }
        detached get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
        void destroy() noexcept override {
            std::coroutine_handle<promise_type>::from_promise(*this).destroy();
        }
    };
};

detached run_detached(driver_list&, task<> driver) {
    co_await driver;
}

/// Delays a successful completion until the last local copy releases it. As the operation has
/// succeeded already, cancellation and the deadline deliver the same result at once.
class held_completion final : public unfinished_call, private timer_node {
public:
    held_completion(port& p,
                    completion result,
                    boost::asio::cancellation_slot slot,
                    time_point deadline)
        : port_(p), result_(std::move(result)), slot_(slot) {
        p.watch_over(*this);
        if (slot_.is_connected())
            slot_.assign([this](boost::asio::cancellation_type) { deliver(); });
        if (deadline != time_point::max())
            p.start_timer(*this, deadline);
    }
    ~held_completion() { deliver(); }

    void drop() noexcept override { completion last = take(); }
    bool waiting() const noexcept override { return static_cast<bool>(result_); }

private:
    void expired() noexcept override { deliver(); }

    void deliver() {
        if (!result_)
            return;
        // Destroys the slot's function, which may be the caller: do not touch it afterwards.
        port_.complete(take());
    }

    completion take() noexcept {
        timer_node::cancel();
        unfinished_call::unlink();
        if (slot_.is_connected())
            slot_.clear();
        return std::exchange(result_, nullptr);
    }

    port& port_;
    completion result_;
    boost::asio::cancellation_slot slot_;
};

}  // namespace

port::~port() = default;

void port::spawn(task<> driver) {
    run_detached(drivers_, std::move(driver));
}

bool port::copies_owe() noexcept {
    const auto& copies = whole().copies_;
    if (copies.empty() || (!connected() && status().state != session_state::read_only))
        return false;
    return std::any_of(
        copies.begin(), copies.end(), [](const copy_hook& copy) { return copy.owes(); });
}

void port::complete_after_copies(completion handler,
                                 boost::asio::cancellation_slot slot,
                                 time_point deadline) {
    auto held = std::make_shared<held_completion>(*this, std::move(handler), slot, deadline);
    for (copy_hook& copy : whole().copies_) {
        if (copy.owes())
            copy.hold(held);
    }
}

void port::destroy_drivers() noexcept {
    // Destroying a driver may spawn another one (for clean-up), which is destroyed as well.
    while (!drivers_.empty() || !services_.empty() || !calls_.empty()) {
        while (!drivers_.empty())
            drivers_.front().destroy();
        services_.clear();
        if (!drivers_.empty() || calls_.empty())
            continue;
        unfinished_call& call = calls_.front();
        calls_.pop_front();
        call.drop();
    }
}

}  // namespace corozk::detail
