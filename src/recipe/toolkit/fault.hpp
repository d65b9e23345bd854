// SPDX-License-Identifier: Apache-2.0
// What the error of a request says about it: for decisions, which know nothing of a client.
#pragma once

#include <corozk/error.hpp>

#include <cstdint>

namespace corozk::detail {

enum class fault : std::uint8_t {
    none,
    unknown,      ///< it may have been applied: the response was lost
    passing,      ///< not applied, but it may be when it is sent again
    unreachable,  ///< not sent, as there was no connection in time
    session,      ///< its session has ended
    closed,       ///< the client is closed
    refused,      ///< by the server, which would refuse it again
};

fault fault_of(const error_code& ec) noexcept;

/// What was read does not fit together any more, as others were faster: begin again. A `retry` always
/// does; users never see it.
inline const error_code look_again =
    boost::system::errc::make_error_code(boost::system::errc::resource_unavailable_try_again);

}  // namespace corozk::detail
