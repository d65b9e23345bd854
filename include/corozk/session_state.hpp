// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>
#include <corozk/error.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace corozk {

/**
 * @brief The state of a client's session.
 *
 * @code
 *   idle -> connecting -> connected <-> suspended
 *                            |              |
 *                            +---> lost <---+      lost -> connected (a new session)
 *   any state -> closed
 * @endcode
 * `read_only` takes the place of `connected` at a server without a quorum. `connecting` becomes `lost`
 * if the session that was to be continued has expired.
 */
enum class session_state : std::uint8_t {
    idle,        ///< `connect` has not been called.
    connecting,  ///< Connecting for the first time.
    connected,   ///< The session is established.
    read_only,   ///< Connected to a server without a quorum; writes fail.
    suspended,   ///< Disconnected; the session may still exist at the server.
    lost,        ///< Expired, as reported by the server or measured locally; none established yet.
    closed,      ///< Closed by the user, or failed permanently (see `session_status::reason`).
};

/** @brief The name of a state, such as "suspended". */
COROZK_DECL std::string_view to_string(session_state state) noexcept;

/** @brief A snapshot of a session. */
struct session_status {
    session_state state = session_state::idle;  ///< The current state.

    /// Number of sessions that this client has established so far.
    std::uint64_t generation = 0;

    /// The server's id of the session; 0 before the first session.
    std::int64_t session_id = 0;

    /// The timeout granted by the server; 0 before the first session.
    std::chrono::milliseconds negotiated_timeout{0};

    /// Why the state is `lost` or `closed`; otherwise no error.
    error_code reason;

    /// Incremented by every change of state; compared by `client::next_status`.
    std::uint64_t revision = 0;
};

}  // namespace corozk
