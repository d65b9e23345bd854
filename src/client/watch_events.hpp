// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/user_call.hpp"
#include <corozk/watch_types.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <utility>

namespace corozk::detail {

/// The events of a watch that its user has not retrieved yet, and the pending `next`.
class watch_events {
public:
    using handler = handler_of<watch_event>;

    ~watch_events() {
        if (call_ && call_->waiting())
            call_->fail(boost::asio::error::operation_aborted);
    }

    bool empty() const noexcept { return events_.empty(); }

    /// What they take in memory.
    std::size_t bytes() const noexcept { return bytes_; }

    void add(watch_event event) {
        bytes_ += size_of(event);
        events_.push_back(std::move(event));
        deliver();
    }

    void clear() noexcept {
        events_.clear();
        bytes_ = 0;
    }

    /// None will follow.
    void end(const error_code& reason) {
        reason_ = reason;
        if (call_ && call_->waiting())
            call_->fail(reason);
        call_.reset();
    }

    /// @param expected  whether an event is there or may follow
    /// @param self  a weak reference, as the cancellation slot may outlive the watch
    void next(port& p, handler h, bool expected, std::weak_ptr<watch_events> self) {
        user_call<watch_event> call(p, std::move(h));
        call.ahead_of_copies();
        if (call_ && call_->waiting())
            return call.fail(errc::busy);
        if (!expected)
            return call.fail(reason_);
        call_.emplace(std::move(call));
        call_->on_cancel([self = std::move(self)](cancellation_type) {
            auto events = self.lock();
            if (!events || !events->call_)
                return;
            auto cancelled = std::move(*events->call_);
            events->call_.reset();
            cancelled.fail(boost::asio::error::operation_aborted);
        });
        deliver();
    }

private:
    static std::size_t size_of(const watch_event& event) noexcept {
        return sizeof event + event.path.capacity();
    }

    void deliver() {
        if (events_.empty() || !call_ || !call_->waiting())
            return;
        watch_event event = std::move(events_.front());
        bytes_ -= size_of(event);
        events_.pop_front();
        auto call = std::move(*call_);
        call_.reset();
        call.complete(error_code(), std::move(event));
    }

    std::list<watch_event> events_;
    std::size_t bytes_ = 0;
    error_code reason_ = zk_errc::no_watcher;
    std::optional<user_call<watch_event>> call_;
};

}  // namespace corozk::detail
