// SPDX-License-Identifier: Apache-2.0
// Requests that the C client does not know. The relay sends them on the same session.
#pragma once

#include "c_client/handle.hpp"
#include "operation/operation.hpp"
#include "wire/conversation.hpp"

#include <string>

namespace corozk::detail {

bool unknown_to_c_client(const operation& op) noexcept;

/// The request as a frame, whose xid is still to be set.
std::string to_frame(const operation& op, const std::string& chroot);

/// The type of a `remove_watches` (see `operation::version`) that removes all watches of a path.
/// The C client would forget those that were set meanwhile, too.
constexpr std::int32_t all_watches = 3;

/// Whether the server has forgotten all one-shot watches of the path: servers before
/// ZOOKEEPER-4466 know one mode for each path and connection.
bool replaces_watches(const operation& answered) noexcept;

/// Of an event that the relay has reported.
arrival to_arrival(const reception& event, const std::string& chroot);

/// Completes the operation's result.
void take_response(operation& op, const reception& response, const std::string& chroot);

}  // namespace corozk::detail
