// SPDX-License-Identifier: Apache-2.0
#include "network/server_mode.hpp"

namespace corozk::detail {

namespace {

// They have about 200 characters.
constexpr std::size_t longest_response = 4096;

}  // namespace

server_mode to_server_mode(std::string_view response, bool ended) noexcept {
    constexpr std::string_view heading = "\nMode: ";
    if (const auto at = response.find(heading); at != response.npos) {
        const std::string_view mode = response.substr(at + heading.size());
        if (mode.find('\n') != mode.npos)
            return mode.starts_with("read-only") ? server_mode::no_quorum : server_mode::has_quorum;
    }
    if (response.find("not currently serving requests") != response.npos)
        return server_mode::no_quorum;
    if (response.starts_with("srvr is not executed"))
        return server_mode::unwilling;
    const bool complete = response.size() >= longest_response || (ended && !response.empty());
    return complete ? server_mode::foreign : server_mode::unknown;
}

}  // namespace corozk::detail
