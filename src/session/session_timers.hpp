// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include "session/agenda.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/set.hpp>

#include <cstddef>
#include <optional>
#include <utility>

namespace corozk::detail {

/// A single Asio timer for all timers of a session.
class session_timers {
public:
    explicit session_timers(const boost::asio::any_io_executor& executor)
        : timer_(std::in_place, executor) {}

    /// @return whether `wait` has to be called again
    bool start(timer_node& timer, time_point when) noexcept {
        timer.cancel();
        timer.when = when;
        nodes_.insert(timer);
        return when < due_;
    }
    time_point first() const noexcept {
        return nodes_.empty() ? time_point::max() : nodes_.begin()->when;
    }

    /// Those that are due, in pieces: `first` is due if some are left.
    void run(time_point now) noexcept {
        constexpr std::size_t at_a_time = 512;
        allowance time;
        for (std::size_t i = 0; i < at_a_time && first() <= now && !time.spent(); ++i) {
            timer_node& t = *nodes_.begin();
            t.cancel();
            t.expired();
        }
    }

    /// Notes that the owner does now what has to be done regularly.
    /// @return whether it is much later than usual, as the process was stopped or the thread busy
    bool check(time_point now, steady_clock::duration usual) noexcept {
        const bool was_away = now - std::exchange(checked_at_, now) > 2 * usual;
        if (was_away)
            back_at_ = now;
        return was_away;
    }
    time_point checked_at() const noexcept { return checked_at_; }
    time_point back_at() const noexcept { return back_at_; }

    /// Calls `f` at that time, unless `wait` is called again before.
    template <class Function>
    void wait(time_point due, Function f) {
        due_ = due;
        // Most timers are cancelled long before their time: the one that is set is not moved back
        // each time, but when it expires.
        if (due == time_point::max() ? set_to_ == due : set_to_ <= due)
            return;
        set_to_ = due;
        ++epoch_;
        if (due == time_point::max()) {
            timer_->cancel();
            return;
        }
        timer_->expires_at(due);
        timer_->async_wait([this, f = std::move(f), epoch = epoch_](const error_code& ec) mutable {
            if (ec || epoch != epoch_)
                return;
            set_to_ = time_point::max();
            if (steady_clock::now() < due_)
                return wait(due_, std::move(f));
            due_ = time_point::max();
            f();
        });
    }

    /// The execution context is being destroyed; this may outlive it.
    void abandon() noexcept { timer_.reset(); }

private:
    boost::intrusive::multiset<timer_node, boost::intrusive::constant_time_size<false>> nodes_;
    std::optional<boost::asio::steady_timer> timer_;
    time_point due_ = time_point::max();
    time_point set_to_ = time_point::max();  ///< not later than `due_`
    std::uint64_t epoch_ = 0;                ///< expiries of earlier waits are ignored
    time_point checked_at_{};
    time_point back_at_{};  ///< when it was last late
};

}  // namespace corozk::detail
