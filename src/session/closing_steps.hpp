// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/operation.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace corozk::detail {

/// The steps of closing a session, with a deadline: wait for the last responses, send the closing
/// request, wait until the server closes the connection. Does no I/O: the owner reports events and
/// carries out the steps that `next` returns.
class closing_steps {
public:
    enum class phase_type : std::uint8_t { none, draining, parting, over };
    enum class action : std::uint8_t {
        wait,
        send_close_request,  ///< send the closing request; report `fail` or `hung_up`, if still active
        send_ping,           ///< send a request that makes the server respond to the one before
        finish,              ///< release the connection and report `result`
    };

    struct connection_type {
        bool connected = false;
        bool settled = false;  ///< all responses have arrived and all waiters were called
    };

    /// @param had_session whether a session exists at the server, connected or not
    /// @param leaving the session is to remain: nothing is sent
    void begin(bool connected,
               bool had_session,
               time_point deadline,
               bool leaving = false) noexcept {
        leaving_ = leaving;
        confirmed_ = false;
        ping_at_ = time_point::max();
        phase_ = phase_type::draining;
        deadline_ = deadline;
        if (!connected)
            end(had_session ? left_to_expire() : error_code());
    }

    action next(const connection_type& c, time_point now) noexcept {
        if (active() && now >= deadline_) {
            const bool unsaid = draining() && c.connected && !leaving_;
            end(confirmed_ ? error_code() : left_to_expire());
            if (unsaid)
                return action::send_close_request;  // though nobody waits for the response
        }
        if (phase_ == phase_type::draining && c.settled) {
            if (!c.connected || leaving_) {
                end(left_to_expire());
            } else {
                phase_ = phase_type::parting;
                ping_at_ = now + std::min(longest_silence, (deadline_ - now) / 3);
                return action::send_close_request;
            }
        }
        if (parting() && now >= ping_at_) {
            ping_at_ = time_point::max();
            return action::send_ping;
        }
        return phase_ == phase_type::over ? action::finish : action::wait;
    }

    /// The server has ended the session. It also closes the connection, at once; otherwise this side
    /// does so.
    void confirmed(time_point now) noexcept {
        if (!parting() || std::exchange(confirmed_, true))
            return;
        deadline_ = std::min(deadline_, now + longest_farewell);
        ping_at_ = time_point::max();
    }

    void hung_up() noexcept {
        confirmed_ = true;
        end(error_code());
    }
    void fail() noexcept { end(left_to_expire()); }

    bool active() const noexcept { return draining() || parting(); }
    bool draining() const noexcept { return phase_ == phase_type::draining; }
    bool parting() const noexcept { return phase_ == phase_type::parting; }
    bool leaving() const noexcept { return leaving_; }
    time_point deadline() const noexcept {
        return active() ? std::min(deadline_, ping_at_) : time_point::max();
    }
    /// Whether the server has ended the session.
    bool session_ended() const noexcept { return confirmed_ && phase_ == phase_type::over; }

    /// What has become of the last session, for those that did not want to leave it.
    const error_code& result() const noexcept { return result_; }

private:
    static constexpr std::chrono::milliseconds longest_farewell{100};
    /// Servers 3.6.0 to 3.8.0 may keep a response back until another request arrives
    /// (ZOOKEEPER-4537).
    static constexpr steady_clock::duration longest_silence = std::chrono::seconds(1);

    static error_code left_to_expire() noexcept {
        return make_error_code(errc::session_left_to_expire);
    }

    void end(const error_code& result) noexcept {
        phase_ = phase_type::over;
        result_ = result;
    }

    phase_type phase_ = phase_type::none;
    time_point deadline_ = time_point::max();
    time_point ping_at_ = time_point::max();
    error_code result_;
    bool leaving_ = false;
    bool confirmed_ = false;
};

}  // namespace corozk::detail
