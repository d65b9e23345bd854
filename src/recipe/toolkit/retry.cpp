// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/retry.hpp"

#include "driver/signal.hpp"

namespace corozk::detail {

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
    const retry_policy policy{policy_.next_session || (doubtful_ && !bound()),
                              policy_.long_outage || doubtful_};
    if (!is_transient(ec, policy))
        return false;
    if (possible())
        return true;
    ec = end_of_session(port_);
    return false;
}

bool retry::possible() const noexcept {
    return bound() ? port_.alive(generation_) : port_.status().state != session_state::closed;
}

task<> quorum_back(port& p) {
    signal wake(p);
    session_signal states(p, wake);
    while (p.status().state == session_state::read_only)
        co_await wake.wait();
}

task<bool> again_until_done(port& p, retry& attempts, error_code& ec) {
    if (attempts.again(ec))
        co_return true;
    if (ec != zk_errc::not_read_only || !attempts.possible())
        co_return false;
    co_await quorum_back(p);
    co_return true;
}

task<bool> again_with_quorum(port& p, retry& attempts, error_code& ec) {
    if (ec == zk_errc::not_read_only && !attempts.doubtful())
        co_return false;
    co_return co_await again_until_done(p, attempts, ec);
}

}  // namespace corozk::detail
