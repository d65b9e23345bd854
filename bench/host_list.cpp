// SPDX-License-Identifier: Apache-2.0
#include "host_list.hpp"

#include <algorithm>
#include <charconv>

namespace corozk::bench {

std::vector<std::uint16_t> ports_of(std::string_view hosts) {
    std::vector<std::uint16_t> ports;
    hosts = hosts.substr(0, hosts.find('/'));
    while (!hosts.empty()) {
        std::string_view one = hosts.substr(0, hosts.find(','));
        hosts.remove_prefix(std::min(one.size() + 1, hosts.size()));
        one.remove_prefix(one.rfind(':') + 1);
        std::uint16_t port = 0;
        std::from_chars(one.data(), one.data() + one.size(), port);
        ports.push_back(port);
    }
    return ports;
}

}  // namespace corozk::bench
