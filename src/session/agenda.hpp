// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"

#include <cstdint>
#include <utility>

namespace corozk::detail {

/// Limits the duration of one part of a turn. Some work is always done.
class allowance {
public:
    /// @param steps_between_looks  at the clock; 1 if a step takes long
    explicit allowance(unsigned steps_between_looks = 16) noexcept
        : steps_between_looks_(steps_between_looks) {}

    bool spent() noexcept {
        return ++steps_ % steps_between_looks_ == 0 && steady_clock::now() >= end_;
    }

private:
    unsigned steps_between_looks_;
    unsigned steps_ = 0;
    time_point end_ = steady_clock::now() + std::chrono::milliseconds(1);
};

/// The work for the turns of a session: deferred functions, users' handlers, and whether a turn is
/// due. Does no I/O.
class agenda {
public:
    // The turn.
    /// Requests a turn. @return whether to post one; otherwise one is posted, running, or goes on
    /// after users' handlers
    bool want_turn() noexcept {
        if (running() || state_ == state_type::handling || stopped())
            return false;
        state_ = state_type::wanted;
        return !std::exchange(posted_, true);
    }

    /// The posted handler runs. @return whether its turn is still due
    bool take_posted() noexcept {
        posted_ = false;
        return state_ == state_type::wanted;
    }

    /// @return false within a turn, or if stopped
    bool begin_turn() noexcept {
        if (running() || stopped())
            return false;
        state_ = state_type::running;
        return true;
    }
    void end_turn() noexcept {
        if (running() || state_ == state_type::handling)
            state_ = state_type::idle;
    }

    /// For users' handlers, so that handlers are not called within others.
    void suspend_turn() noexcept {
        if (running())
            state_ = state_type::handling;
    }
    void resume_turn() noexcept {
        if (!stopped())
            state_ = state_type::running;
    }

    void stop() noexcept { state_ = state_type::stopped; }
    bool running() const noexcept { return state_ == state_type::running; }
    bool stopped() const noexcept { return state_ == state_type::stopped; }

    // Work.
    void defer(deferred& d) {
        if (!d.is_linked())
            deferred_.push_back(d);
    }
    bool has_deferred() const noexcept { return !deferred_.empty(); }
    deferred& take_deferred() noexcept {
        deferred& d = deferred_.front();
        deferred_.pop_front();
        return d;
    }

    void add(completion handler) noexcept { handlers_.push_back(*handler.release()); }
    bool has_handlers() const noexcept { return !handlers_.empty(); }
    completion take_handler() noexcept {
        bound_handler& next = handlers_.front();
        handlers_.pop_front();
        ++handled_;
        return completion(&next);
    }
    void drop_handlers() noexcept {
        while (has_handlers())
            completion last = take_handler();
    }

    /// @return whether this many handlers have run since it last returned true
    bool handled(std::size_t many) noexcept {
        return handled_ >= many && std::exchange(handled_, 0) > 0;
    }

private:
    enum class state_type : std::uint8_t { idle, wanted, running, handling, stopped };

    state_type state_ = state_type::idle;
    bool posted_ = false;
    boost::intrusive::list<deferred, boost::intrusive::constant_time_size<false>> deferred_;
    boost::intrusive::list<bound_handler, boost::intrusive::constant_time_size<false>> handlers_;
    std::size_t handled_ = 0;
};

}  // namespace corozk::detail
