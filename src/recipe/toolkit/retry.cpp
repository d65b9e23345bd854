// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/retry.hpp"

namespace corozk::detail {

fault fault_of(const error_code& ec) noexcept {
    if (!ec)
        return fault::none;
    if (is_outcome_unknown(ec))
        return fault::unknown;
    if (is_recoverable(ec) || ec == look_again)
        return fault::passing;
    if (ec == errc::not_connected)
        return fault::unreachable;
    if (ec == errc::closed)
        return fault::closed;
    return is_session_lost(ec) ? fault::session : fault::refused;
}

retry_verdict judge_retry(retry_policy policy, const error_code& ec, bool goes_on) noexcept {
    const fault why = fault_of(ec);
    const bool transient = why == fault::unknown || why == fault::passing ||
                           (policy.long_outage && why == fault::unreachable) ||
                           (policy.next_session && ec == zk_errc::session_expired);
    if (!transient)
        return retry_verdict::settled;
    return goes_on ? retry_verdict::again : retry_verdict::ended;
}

error_code end_of_session(const port& p) noexcept {
    const session_status& status = p.status();
    if (status.state == session_state::closed)
        return errc::closed;
    return status.reason && is_session_lost(status.reason)
               ? status.reason
               : make_error_code(zk_errc::session_expired);
}

bool retry::again(error_code& ec) noexcept {
    doubtful_ = doubtful_ || is_outcome_unknown(ec);
    const bool bound = !policy_.next_session && generation_ != 0;
    const retry_policy policy{policy_.next_session || (doubtful_ && !bound),
                              policy_.long_outage || doubtful_};
    const bool goes_on =
        bound ? port_.alive(generation_) : port_.status().state != session_state::closed;
    const retry_verdict verdict = judge_retry(policy, ec, goes_on);
    if (verdict == retry_verdict::ended)
        ec = end_of_session(port_);
    return verdict == retry_verdict::again;
}

}  // namespace corozk::detail
