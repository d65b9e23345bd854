// SPDX-License-Identifier: Apache-2.0
// Requests that the C client does not know. The relay sends them on the same session.
#pragma once

#include "operation/operation.hpp"
#include "wire/conversation.hpp"

#include <string>

namespace corozk::detail {

bool unknown_to_c_client(const operation& op) noexcept;

/// The request as a frame, whose xid is still to be set.
std::string to_frame(const operation& op, const std::string& chroot);

/// Completes the operation's result.
void take_response(operation& op, const reception& response, const std::string& chroot);

}  // namespace corozk::detail
