// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace corozk::detail {

/// What a server says of itself.
enum class server_mode : std::uint8_t {
    unknown,     ///< so far
    unwilling,   ///< it answers, but may not say
    no_quorum,   ///< or read-only
    has_quorum,  ///< or needs none
    foreign,     ///< it is not ZooKeeper, nor compatible
};

/// Of its response to the command `srvr`, which every ZooKeeper server answers, whatever its whitelist;
/// a compatible server may forbid it. It may be incomplete, and ends with the connection.
server_mode to_server_mode(std::string_view response, bool ended) noexcept;

}  // namespace corozk::detail
