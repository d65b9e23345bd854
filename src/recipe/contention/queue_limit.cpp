// SPDX-License-Identifier: Apache-2.0
// The limit in the folder's data, where the rule needs one.
#include "recipe/contention/contention_queue_parts.hpp"
#include "recipe/contention/limit.hpp"

#include <utility>

namespace corozk::detail {

void contention_queue::look_for_limit() {
    if (limit_asked_)
        return;
    limit_asked_ = true;
    ++operations_;
    port_.spawn(read_limit());
}

task<> contention_queue::read_limit() {
    known_limit found;
    error_code ec = co_await find_limit(port_,
                                        settings_->directory,
                                        settings_->entries,
                                        settings_->folder_mode,
                                        settings_->initial_limit,
                                        &limit_watch_,
                                        found);
    limit_asked_ = false;
    if (!ec) {
        limit_ = found.value;
        limit_version_ = found.version;
        limit_known_ = limit_watch_.armed();  // or it has changed since
        // Who asks for more than there is would block the others for ever.
        abandon_waiting(errc::bad_option,
                        [found](const contender& c) { return c.weight > found.value; });
    } else if (!is_session_lost(ec) && ec != errc::not_connected) {
        abandon_waiting(ec, [](const contender&) { return true; });
    }
    --operations_;
    wake();
}

}  // namespace corozk::detail
