// SPDX-License-Identifier: Apache-2.0
// What the error of a request says about it: for decisions, which know nothing of a client.
#pragma once

#include <corozk/error.hpp>

#include <cstdint>

namespace corozk::detail {

enum class fault : std::uint8_t {
    none,
    unknown,      ///< it may have been applied: the response was lost
    passing,      ///< not applied, but it may be when it is sent again
    unreachable,  ///< not sent, as there was no connection in time
    session,      ///< its session has ended
    closed,       ///< the client is closed
    refused,      ///< by the server, which would refuse it again
};

fault fault_of(const error_code& ec) noexcept;

/// The errors, besides a lost connection, after which a request is sent again. As it then waits for
/// the next connection, sending it at once does not busy-wait.
struct retry_policy {
    bool next_session;  ///< the end of its session: it is sent in the next one
    bool long_outage;   ///< no connection in time (`errc::not_connected`)
};

inline constexpr retry_policy until_closed{true, true};
inline constexpr retry_policy while_reachable{true, false};
inline constexpr retry_policy in_session{false, true};
inline constexpr retry_policy in_session_while_reachable{false, false};

/// For what is not bound to a session but ends with one, or with a long outage, unless an earlier
/// request may have been applied: then its outcome must be determined.
constexpr retry_policy until_known(bool doubtful) noexcept {
    return doubtful ? until_closed : in_session_while_reachable;
}

/// Whether the policy retries after this error, provided that there is a session.
bool is_transient(const error_code& ec, retry_policy policy = until_closed) noexcept;

/// What was read does not fit together any more, as others were faster: begin again. A `retry` always
/// does; users never see it.
inline const error_code look_again =
    boost::system::errc::make_error_code(boost::system::errc::resource_unavailable_try_again);

}  // namespace corozk::detail
