// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::detail {

struct host {
    host() = default;
    host(std::string name_, std::uint16_t port_) : name(std::move(name_)), port(port_) {}
    std::string name;  ///< without the brackets of an IPv6 address
    std::uint16_t port = 2181;
    bool operator==(const host&) const = default;
};

/// A parsed host list: "a:2181,[::1]:2182/app".
struct host_list {
    host_list() = default;
    std::vector<host> hosts;
    std::string chroot;   ///< "/app", or empty
    std::string problem;  ///< why it is invalid, or empty
    bool operator==(const host_list&) const = default;
};

host_list parse_hosts(std::string_view text);

/// "127.0.0.1:2181", "[::1]:2181".
std::string to_text(const boost::asio::ip::tcp::endpoint& server);

}  // namespace corozk::detail
