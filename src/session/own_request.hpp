// SPDX-License-Identifier: Apache-2.0
// Requests that the relay sends and whose responses it reports. The C client keeps the session and its
// watches, and so sends what concerns them: reads that set a watch, credentials, pings.
#pragma once

#include "c_client/handle.hpp"
#include "operation/operation.hpp"
#include "wire/conversation.hpp"
#include "wire/jute.hpp"
#include "wire/server_abilities.hpp"

#include <cstdint>

namespace corozk::detail {

/// Whether the relay sends it, and not the C client.
bool is_own(const operation& op) noexcept;

/// Whether the server knows it, in one form or another.
bool can_be_asked(const operation& op, const server_abilities& server) noexcept;

/// Writes the request, with an xid that is still to be set.
void write_request(jute_writer& out, const operation& op, const server_abilities& server);

/// The type of a `remove_watches` (see `operation::version`) that removes all watches of a path.
/// The C client would forget those that were set meanwhile, too.
constexpr std::int32_t all_watches = 3;

/// Whether the server has forgotten all one-shot watches of the path: servers before
/// ZOOKEEPER-4466 know one mode for each path and connection.
bool replaces_watches(const operation& answered) noexcept;

/// Of an event that the relay has reported.
arrival to_arrival(const reception& event);

/// Completes the operation's result.
void take_response(operation& op, const reception& response, std::int64_t session_id);

}  // namespace corozk::detail
