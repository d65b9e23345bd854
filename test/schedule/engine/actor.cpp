// SPDX-License-Identifier: Apache-2.0
#include "actor.hpp"

#include "stage.hpp"

namespace corozk::schedule {

client& actor::zk() {
    return stage_.zk(client_);
}

bool actor::may_see(const error_code& ec, const char* during) {
    if (!ec)
        return true;
    bool good = false;
    if (ec == boost::asio::error::operation_aborted)
        good = cancelled_;
    else if (is_session_lost(ec) || ec == errc::ownership_lost || is_recoverable(ec) ||
             ec == errc::not_connected)
        good = stage_.session_ended(client_) || !stage_.erased_nodes().empty();
    if (!good) {
        stage_.check(false, name_ + " has failed with \"" + ec.message() + "\" during " + during);
    }
    return good;
}

}  // namespace corozk::schedule
