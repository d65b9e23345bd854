// SPDX-License-Identifier: Apache-2.0
// Operations as requests and responses.
#pragma once

#include "operation/operation.hpp"
#include "session/arrival.hpp"
#include "wire/conversation.hpp"
#include "wire/jute.hpp"
#include "wire/server_abilities.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace corozk::detail {

/// Whether the server knows it, in one form or another.
bool can_be_asked(const request_fields& op, const server_abilities& server) noexcept;

/// Writes the request, with an xid that is still to be set.
void write_request(jute_writer& out, const request_fields& op, const server_abilities& server);

/// The type of a `remove_watches` (see `operation::version`) that removes all watches of a path.
constexpr std::int32_t all_watches = 3;

/// The `data` of a `set_watches`: the server sets these watches, by kind, and reports at once those for
/// which it has changes after that transaction.
std::string set_watches_data(std::int64_t since,
                             const std::array<std::vector<std::string>, 3>& paths);

/// Of an event that the relay has reported.
arrival to_arrival(const reception& event);

/// Completes the operation's result.
void take_response(operation& op, const reception& response, std::int64_t session_id);

}  // namespace corozk::detail
