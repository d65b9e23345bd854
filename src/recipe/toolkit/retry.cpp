// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/retry.hpp"

namespace corozk::detail {

error_code end_of_session(const port& p) noexcept {
    const session_status& status = p.status();
    if (status.state == session_state::closed)
        return errc::closed;
    return status.reason && is_session_lost(status.reason)
               ? status.reason
               : make_error_code(zk_errc::session_expired);
}

bool ask_again(const port& p, std::uint64_t generation, error_code& ec) noexcept {
    if (!is_recoverable(ec) && ec != errc::not_connected)
        return false;
    if (p.alive(generation))
        return true;
    ec = end_of_session(p);
    return false;
}

}  // namespace corozk::detail
