// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>
#include <corozk/error.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace corozk {

/**
 * @brief Where a session stands.
 *
 * @code
 *   idle -> connecting -> connected <-> suspended
 *                            |              |
 *                            +---> lost <---+      lost -> connected (a new session)
 *   any of them -> closed
 * @endcode
 */
enum class session_state : std::uint8_t {
    idle,        ///< `connect` has not been called
    connecting,  ///< no session yet, and none before
    connected,   ///< the session is established
    read_only,   ///< connected to a server without a quorum; writes fail
    suspended,   ///< disconnected; the session may still live at the server
    lost,        ///< expired, by the server's word or by the local clock, until there is a new one
    closed,      ///< closed by the user, or failed for good (see `session_status::reason`)
};

/** @brief The name of a state, such as "suspended". */
COROZK_DECL std::string_view to_string(session_state state) noexcept;

/** @brief A snapshot of a session. */
struct session_status {
    session_state state = session_state::idle;  ///< Where the session stands.

    /// Sessions established so far by this client: 1 is the first. Grows with each renewal.
    std::uint64_t generation = 0;

    /// As the server knows it; 0 before the first session.
    std::int64_t session_id = 0;

    /// As the server granted it; 0 before the first session.
    std::chrono::milliseconds negotiated_timeout{0};

    /// Why the state is `lost` or `closed`; otherwise no error.
    error_code reason;

    /// Grows with every change of state: what `client::next_state` compares.
    std::uint64_t revision = 0;
};

}  // namespace corozk
