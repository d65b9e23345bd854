// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/port.hpp"

#include <cstdint>

namespace corozk::detail {

/// Why what belonged to a session fails once it has ended.
error_code end_of_session(const port& p) noexcept;

/// Whether to send a request once more that belongs to one session: only the connection broke, and
/// the session goes on. Where nothing but the session's end speaks against it, `ec` becomes that
/// end: a loop that was kept waiting for long hears of both in one turn, and of the connection first.
bool ask_again(const port& p, std::uint64_t generation, error_code& ec) noexcept;

}  // namespace corozk::detail
