// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::bench {

struct server_address {
    server_address() = default;
    server_address(std::string h, std::string p) : host(std::move(h)), port(std::move(p)) {}

    std::string host;
    std::string port;

    std::string text() const;
};

/// "a:2181,[::1]:2182/chroot"; a port that is missing is 2181. Each is named once. @throws usage_error
std::vector<server_address> parse_hosts(std::string_view hosts);

/// The ports of a list HOST:PORT[,HOST:PORT...][/CHROOT] on this machine.
std::vector<std::uint16_t> ports_of(std::string_view hosts);

}  // namespace corozk::bench
