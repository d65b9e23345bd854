// SPDX-License-Identifier: Apache-2.0
#include "session/hosts.hpp"

#include "operation/path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace corozk::detail {

namespace {

constexpr std::string_view spaces = " \t\r\n";

std::string_view trim(std::string_view text) noexcept {
    std::size_t begin = text.find_first_not_of(spaces);
    if (begin == std::string_view::npos)
        return {};
    return text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

std::string quoted(std::string_view text) {
    return fmt::format("\"{}\"", text);
}

/// @return the problem, or empty.
std::string parse_host(std::string_view text, host& out) {
    std::string_view name = text;
    std::string_view port;
    bool has_port = false;
    if (text.front() == '[') {
        std::size_t close = text.find(']');
        if (close == std::string_view::npos)
            return "has no closing ']' in " + quoted(text);
        name = text.substr(1, close - 1);
        boost::system::error_code no_address;
        boost::asio::ip::make_address_v6(std::string(name), no_address);
        if (no_address && !name.empty())
            return "has no IPv6 address between the brackets of " + quoted(text);
        std::string_view rest = text.substr(close + 1);
        if (!rest.empty()) {
            if (rest.front() != ':')
                return "has text behind ']' in " + quoted(text);
            port = rest.substr(1);
            has_port = true;
        }
    } else if (std::size_t colon = text.find(':'); colon != std::string_view::npos) {
        name = text.substr(0, colon);
        port = text.substr(colon + 1);
        has_port = true;
        if (port.find(':') != std::string_view::npos) {
            return "has several ':' in " + quoted(text) + ": write IPv6 addresses in brackets";
        }
    }
    if (name.empty())
        return "has no host name in " + quoted(text);
    auto is_strange = [](char c) {
        const auto code = static_cast<unsigned char>(c);
        return code <= ' ' || code == 0x7f ||
               std::string_view("@?#[]").find(c) != std::string_view::npos;
    };
    if (std::any_of(name.begin(), name.end(), is_strange)) {
        return "has a malformed host name " + quoted(name);
    }
    unsigned number = 2181;
    if (has_port) {
        auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
        if (error != std::errc() || end != port.data() + port.size() || number < 1 ||
            number > 65535) {
            return "has no port between 1 and 65535 in " + quoted(text);
        }
    }
    out = host(std::string(name), static_cast<std::uint16_t>(number));
    return {};
}

/// @return the problem, or empty.
std::string parse(std::string_view text, host_list& list) {
    if (std::size_t slash = text.find('/'); slash != std::string_view::npos) {
        std::string_view chroot = text.substr(slash);
        text = text.substr(0, slash);
        if (const char* problem = path_problem(chroot))
            return "has a chroot " + quoted(chroot) + " that " + problem;
        if (chroot.find(',') != std::string_view::npos) {
            return "has a chroot " + quoted(chroot) +
                   " that contains a comma: write the chroot once, after the last host";
        }
        if (chroot != "/")
            list.chroot = chroot;
    }
    if (trim(text).empty())
        return "is empty: name at least one server, such as \"127.0.0.1:2181\"";
    for (std::size_t comma = 0; comma != std::string_view::npos;) {
        comma = text.find(',');
        std::string_view item = trim(text.substr(0, comma));
        if (item.empty())
            return "has an empty entry: remove the extra comma";
        if (std::string problem = parse_host(item, list.hosts.emplace_back()); !problem.empty())
            return problem;
        text.remove_prefix(std::min(comma, text.size() - 1) + 1);
    }
    return {};
}

}  // namespace

std::string to_text(const boost::asio::ip::tcp::endpoint& server) {
    std::string text = server.address().to_string();
    if (server.address().is_v6())
        text = "[" + text + "]";
    return text + ":" + std::to_string(server.port());
}

host_list parse_hosts(std::string_view text) {
    host_list list;
    list.problem = parse(trim(text), list);
    if (!list.problem.empty())
        list.hosts.clear();
    return list;
}

}  // namespace corozk::detail
