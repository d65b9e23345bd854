// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/fault.hpp"

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

bool is_transient(const error_code& ec, retry_policy policy) noexcept {
    const fault why = fault_of(ec);
    return why == fault::unknown || why == fault::passing ||
           (policy.long_outage && why == fault::unreachable) ||
           (policy.next_session && ec == zk_errc::session_expired);
}

}  // namespace corozk::detail
