// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/operation.hpp"

#include <cstdint>

namespace corozk::detail {

/// The steps of closing a session: wait for the last responses, say goodbye, wait for the server to
/// hang up, all before a deadline. Does no I/O: the owner reports what there is and carries out
/// what `next` returns.
class closing_steps {
public:
    enum class phase_type : std::uint8_t { none, draining, parting, over };
    enum class action : std::uint8_t {
        wait,
        say_goodbye,  ///< send the closing request; report `fail` or `hung_up`
        finish,       ///< release the connection and report `result`
    };

    struct connection_type {
        bool connected = false;
        bool settled = false;      ///< every response has come, and no waiter is to be called
        bool half_packet = false;  ///< of the C client's, still to be sent
    };

    /// @param had_session  whether a session exists at the server, connected or not
    void begin(bool connected, bool had_session, time_point deadline) noexcept {
        phase_ = phase_type::draining;
        deadline_ = deadline;
        if (!connected)
            end(had_session ? left_to_expire() : error_code());
    }

    action next(const connection_type& c, time_point now) noexcept {
        if (active() && now >= deadline_)
            end(left_to_expire());
        // The C client aborts the program when it gets a response that it does not expect: none of
        // ours may be on its way that it does not know of.
        if (phase_ == phase_type::draining && c.settled) {
            if (!c.connected) {
                end(left_to_expire());
            } else if (!c.half_packet) {
                phase_ = phase_type::parting;
                return action::say_goodbye;
            }
        }
        return phase_ == phase_type::over ? action::finish : action::wait;
    }

    void hung_up() noexcept { end(error_code()); }
    void fail() noexcept { end(left_to_expire()); }

    bool active() const noexcept { return draining() || parting(); }
    bool draining() const noexcept { return phase_ == phase_type::draining; }
    bool parting() const noexcept { return phase_ == phase_type::parting; }
    time_point deadline() const noexcept { return active() ? deadline_ : time_point::max(); }
    const error_code& result() const noexcept { return result_; }

private:
    static error_code left_to_expire() noexcept { return errc::session_left_to_expire; }

    void end(const error_code& result) noexcept {
        phase_ = phase_type::over;
        result_ = result;
    }

    phase_type phase_ = phase_type::none;
    time_point deadline_ = time_point::max();
    error_code result_;
};

}  // namespace corozk::detail
