// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/pending_call.hpp"
#include "driver/port.hpp"
#include "driver/sweep.hpp"

#include <boost/intrusive/list.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace corozk::detail {

/// The state of a session, with its observers and waiters.
class status_board {
public:
    const session_status& status() const noexcept { return status_; }

    /// A session was established. @param is_new not the same as before
    void established(std::int64_t id, std::chrono::milliseconds timeout, bool is_new) noexcept {
        status_.session_id = id;
        status_.negotiated_timeout = timeout;
        status_.generation += is_new ? 1 : 0;
    }

    /// @return whether this is a change, to be followed by `publish`
    bool set(session_state state, const error_code& reason) noexcept {
        if (status_.state == state && status_.reason == reason)
            return false;
        status_.state = state;
        status_.reason = reason;
        ++status_.revision;
        return true;
    }

    void publish() {
        // Observers may unlink themselves or others.
        observer_list round;
        round.swap(observers_);
        while (!round.empty()) {
            session_observer& o = round.front();
            round.pop_front();
            observers_.push_back(o);
            o.session_changed(status_);
        }
        for (auto& call : take_calls())
            call->complete(error_code(), status_);
    }

    void subscribe(session_observer& observer) noexcept { observers_.push_back(observer); }

    using call_list = std::vector<std::shared_ptr<pending_call<session_status>>>;

    /// Completes the call with the next status after `seen`.
    void next(const session_status& seen, user_call<session_status> call) {
        call.ahead_of_copies();
        if (seen.revision != status_.revision)
            return call.complete(error_code(), status_);
        // There are no further changes.
        if (status_.state == session_state::closed)
            return call.complete(errc::closed, status_);
        sweep_(calls_, [](const auto& c) { return !c->waiting(); });
        calls_.push_back(cancellable(std::move(call), any_cancellation));
    }
    call_list take_calls() noexcept { return std::exchange(calls_, {}); }

private:
    using observer_list =
        boost::intrusive::list<session_observer, boost::intrusive::constant_time_size<false>>;

    session_status status_;
    observer_list observers_;
    call_list calls_;
    sweep sweep_;
};

}  // namespace corozk::detail
