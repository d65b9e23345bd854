// SPDX-License-Identifier: Apache-2.0
// Whether a request that failed is sent again. It is decided here alone: every driver has a `retry` for what
// it does, and asks it.
#pragma once

#include "driver/port.hpp"
#include <corozk/error.hpp>

#include <cstdint>

namespace corozk::detail {

/// What a request outlives besides a lost connection. It waits for the next connection by itself, so that
/// sending it again at once does not spin.
struct retry_policy {
    bool next_session;  ///< the end of its session: it is sent in the next one
    bool long_outage;   ///< that there was no connection in time (`errc::not_connected`)
};

inline constexpr retry_policy until_closed{true, true};
inline constexpr retry_policy while_reachable{true, false};
inline constexpr retry_policy in_session{false, true};
inline constexpr retry_policy in_session_while_reachable{false, false};

enum class retry_verdict : std::uint8_t {
    settled,  ///< it succeeded, the server has answered, or it was refused here
    again,
    ended,  ///< nothing speaks against it but that there is no session for it any more
};

/// @param goes_on  whether there is, or will be, a session for it
retry_verdict judge_retry(retry_policy policy, const error_code& ec, bool goes_on) noexcept;

/// Whether only the connection failed, or what the policy outlives as well. For what sees by itself whether
/// there is a session.
inline bool is_transient(const error_code& ec, retry_policy policy = until_closed) noexcept {
    return judge_retry(policy, ec, true) == retry_verdict::again;
}

/// Why what belonged to a session fails once it has ended.
error_code end_of_session(const port& p) noexcept;

/// Decides for one request, or for several that lead to one end, and remembers whether one of them may have
/// been carried out although its response was lost. That is to be found out, however long it takes: then an
/// outage does not end it either.
class retry {
public:
    /// For requests that any session can carry out.
    explicit retry(const port& p, retry_policy policy = until_closed) noexcept
        : port_(p), policy_(policy) {}

    /// For requests that are bound to one session (`operation::generation`; 0: to none).
    retry(const port& p, std::uint64_t generation, retry_policy policy = in_session) noexcept
        : port_(p), policy_(policy), generation_(generation) {}

    /// Whether to send a request again that failed so. Where only the end of the session or of the client
    /// speaks against it, `ec` becomes that: a loop that was kept waiting hears of both in one turn, and of
    /// the connection first.
    bool again(error_code& ec) noexcept;
    bool again(error_code&& ec) noexcept { return again(ec); }

    /// Whether a request that failed may have been carried out.
    bool doubtful() const noexcept { return doubtful_; }

private:
    const port& port_;
    retry_policy policy_;
    std::uint64_t generation_ = 0;
    bool doubtful_ = false;
};

// For what does not have a `retry` yet.
inline bool worth_another_try(const error_code& ec) noexcept {
    return is_transient(ec);
}
inline bool worth_asking_again(const port& p, const error_code& ec) noexcept {
    return retry(p).again(error_code(ec));
}
inline bool ask_again(const port& p, std::uint64_t generation, error_code& ec) noexcept {
    return retry(p, generation).again(ec);
}

}  // namespace corozk::detail
