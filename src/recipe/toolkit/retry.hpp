// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"
#include <corozk/error.hpp>

#include <cstdint>

namespace corozk::detail {

/// Why what belonged to a session fails once it has ended.
error_code end_of_session(const port& p) noexcept;

/// Whether a request that is not bound to a session failed only because of the connection or the
/// session: it is to be tried again at once. It waits for the connection, or the next session, by
/// itself, so that this does not spin.
inline bool worth_another_try(const error_code& ec) noexcept {
    return is_recoverable(ec) || ec == errc::not_connected || ec == zk_errc::session_expired;
}

/// The same where the client may have been closed meanwhile.
inline bool worth_asking_again(const port& p, const error_code& ec) noexcept {
    return worth_another_try(ec) && p.status().state != session_state::closed;
}

/// Whether to send a request once more that belongs to one session: only the connection broke, and
/// the session goes on. Where nothing but the session's end speaks against it, `ec` becomes that
/// end: a loop that was kept waiting for long hears of both in one turn, and of the connection first.
bool ask_again(const port& p, std::uint64_t generation, error_code& ec) noexcept;

}  // namespace corozk::detail
