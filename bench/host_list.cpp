// SPDX-License-Identifier: Apache-2.0
#include "host_list.hpp"

#include "arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace corozk::bench {

namespace {

bool is_port(std::string_view text) {
    std::uint16_t number = 0;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc() && end == text.data() + text.size() && number > 0;
}

}  // namespace

std::string server_address::text() const {
    bool colons = host.find(':') != host.npos;
    return colons ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::vector<server_address> parse_hosts(std::string_view hosts) {
    hosts = hosts.substr(0, hosts.find('/'));
    std::vector<server_address> all;
    while (!hosts.empty()) {
        auto comma = hosts.find(',');
        std::string_view one = hosts.substr(0, comma);
        hosts = comma == hosts.npos ? std::string_view() : hosts.substr(comma + 1);
        auto colon = one.rfind(':');
        auto bracket = one.rfind(']');
        bool with_port = colon != one.npos && (bracket == one.npos || bracket < colon);
        std::string_view host = with_port ? one.substr(0, colon) : one;
        std::string_view port = with_port ? one.substr(colon + 1) : std::string_view("2181");
        if (host.starts_with('[') && host.ends_with(']'))
            host = host.substr(1, host.size() - 2);
        if (host.empty() || !is_port(port))
            throw usage_error(fmt::format("--hosts: '{}' is not HOST:PORT", one));
        server_address found{std::string(host), std::string(port)};
        bool known = std::any_of(all.begin(), all.end(), [&](const server_address& a) {
            return a.text() == found.text();
        });
        if (!known)
            all.push_back(std::move(found));
    }
    if (all.empty())
        throw usage_error("--hosts: it needs at least one HOST:PORT");
    return all;
}

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
