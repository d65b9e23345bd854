// SPDX-License-Identifier: Apache-2.0
// Reads that never show an older state than this client has seen or made. Within a session the
// servers see to that, but the server of the next session may lag behind: there, the first such read
// follows a `sync`.
#pragma once

#include "driver/port.hpp"
#include "driver/request.hpp"
#include "driver/task.hpp"

#include <string>

namespace corozk::detail {

/// Lets the session's server catch up, if needed. Then reads are sent, of which none `may_lag`.
task<error_code> catch_up(port& p, const std::string& path);

/// Whether the read was answered in a later session than the last one that has caught up, because
/// the session has changed. It has to be repeated (`look_again`); its watch may be armed.
bool may_lag(port& p, const operation& read);

/// Sends a read, after a `sync` if needed; again if the answer `may_lag`.
task<error_code> read_forward(port& p, request& read);

/// After a read has found no node: watches for its creation.
/// @return success if it is still missing, `node_exists` if it was created in between: then, and after
/// another error, nothing is watched
task<error_code> watch_creation(port& p, std::string path, watch_node& missing);

/// Sends a read, which sets the watch `found`. If there is no node, watches for its creation instead.
/// @return `no_node` if `missing` was set; after another error, nothing is watched
task<error_code> read_or_await(port& p, request& read, watch_node& found, watch_node& missing);

}  // namespace corozk::detail
