// SPDX-License-Identifier: Apache-2.0
#include "words.hpp"

#include "json_text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <sstream>
#include <unistd.h>

namespace corozk::program {

namespace {

struct unit {
    std::string_view name;
    double milliseconds;
};
constexpr std::array units{unit{"ms", 1},
                           unit{"s", 1000},
                           unit{"", 1000},
                           unit{"m", 60'000},
                           unit{"min", 60'000},
                           unit{"h", 3'600'000}};

permission parse_permissions(std::string_view letters) {
    permission result = permission::none;
    for (char c : letters) {
        switch (c) {
            case 'c':
                result = result | permission::create;
                break;
            case 'd':
                result = result | permission::erase;
                break;
            case 'r':
                result = result | permission::read;
                break;
            case 'w':
                result = result | permission::write;
                break;
            case 'a':
                result = result | permission::admin;
                break;
            default:
                throw bad_word(fmt::format(
                    "'{}' is no permission: c create, d delete, r read, w write, a admin", c));
        }
    }
    return result;
}

/// @return errno, or 0
int read_all(int fd, std::string& text) {
    char part[65536];
    for (;;) {
        ssize_t size = ::read(fd, part, sizeof part);
        if (size == 0)
            return 0;
        if (size < 0 && errno != EINTR)
            return errno;
        text.append(part, size > 0 ? static_cast<std::size_t>(size) : 0);
    }
}

}  // namespace

std::chrono::milliseconds parse_duration(std::string_view text) {
    constexpr auto limit = static_cast<double>(for_ever.count());
    double number = 0;
    auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), number);
    // More than a double holds is a number all the same.
    if (ec == std::errc::result_out_of_range && !text.starts_with('-')) {
        ec = std::errc();
        number = std::max(std::strtod(std::string(text).c_str(), nullptr),
                          std::numeric_limits<double>::min());
    }
    std::string_view rest(end, text.data() + text.size());
    for (const unit& u : units) {
        double value = number * u.milliseconds;
        if (ec == std::errc() && rest == u.name && value >= 0)
            return value < limit ? std::chrono::milliseconds(std::llrint(std::ceil(value)))
                                 : for_ever;
    }
    throw bad_word(fmt::format("'{}' is no duration; say 250ms, 30s, 5m or 2h", text));
}

void check_path(std::string_view path) {
    auto refuse = [&](const char* why) {
        throw bad_word(fmt::format("'{}' is no path: {}", path, why));
    };
    if (!path.starts_with('/'))
        refuse("paths begin with '/'");
    if (path.size() > 1 && path.ends_with('/'))
        refuse("it ends with '/'");
    if (!is_utf8(path))
        refuse("it is no UTF-8");
    // The servers' rule (PathUtils.validatePath), which thinks in UTF-16.
    auto byte = [&](std::size_t i) { return i < path.size() ? path[i] & 0xff : 0; };
    for (std::size_t i = 0; i < path.size(); ++i) {
        int first = byte(i), second = byte(i + 1);
        if (first < 0x20 || first == 0x7f || (first == 0xc2 && second < 0xa0))
            refuse("it has a control character");
        bool last_ones = first == 0xef && second == 0xbf && byte(i + 2) >= 0xb0;
        if (first >= 0xf0 || first == 0xee || (first == 0xef && second < 0xa4) || last_ones)
            refuse("it has a character that ZooKeeper does not allow");
    }
    for (std::string_view rest = path.substr(1); !rest.empty();) {
        std::string_view name = rest.substr(0, rest.find('/'));
        rest.remove_prefix(std::min(rest.size(), name.size() + 1));
        if (name.empty())
            refuse("there is nothing between two of its '/'");
        if (name == "." || name == "..")
            refuse("'.' and '..' mean nothing to ZooKeeper");
    }
}

void check_recipe_path(std::string_view path) {
    check_path(path);
    if (path == "/")
        throw bad_word("'/' is the root: name a folder of its own, such as /locks/backup");
}

auth_info parse_auth(std::string_view text) {
    auto colon = text.find(':');
    // What was written may be half a password: it is not repeated.
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size())
        throw bad_word("credentials are written SCHEME:CREDENTIAL, as in digest:user:password");
    return auth_info(std::string(text.substr(0, colon)), std::string(text.substr(colon + 1)));
}

std::vector<auth_info> parse_auth_file(const std::string& name) {
    std::istringstream lines(read_file(name));
    std::vector<auth_info> result;
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty() && line.back() == '\r')
            line.pop_back();
        if (!line.empty() && line.front() != '#')
            result.push_back(parse_auth(line));
    }
    if (result.empty())
        throw bad_word(fmt::format("{} has no credentials in it", name));
    return result;
}

corozk::acl parse_acl(std::string_view text) {
    if (text == "open")
        return open_acl();
    if (text == "creator")
        return creator_acl();
    if (text == "read-only")
        return read_only_acl();
    auto first = text.find(':');
    auto last = text.rfind(':');
    if (first == std::string_view::npos || first == last || first == 0)
        throw bad_word(fmt::format(
            "'{}' is no access control list; say open, creator, read-only or SCHEME:ID:cdrwa",
            text));
    corozk::acl result;
    result.emplace_back(parse_permissions(text.substr(last + 1)),
                        std::string(text.substr(0, first)),
                        std::string(text.substr(first + 1, last - first - 1)));
    return result;
}

std::pair<std::string, std::string> parse_part(std::string_view text) {
    auto equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0)
        throw bad_word(fmt::format("'{}' is no part; say NAME=VALUE or NAME=@FILE", text));
    std::string name(text.substr(0, equals));
    if (name.find('/') != std::string::npos)
        throw bad_word(fmt::format("'{}' is no name of a part: it has a '/'", name));
    check_path("/" + name);
    std::string value(text.substr(equals + 1));
    if (value.starts_with('@'))
        value = read_file(value.substr(1));
    return {std::move(name), std::move(value)};
}

std::string read_file(const std::string& name) {
    int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    std::string text;
    int problem = fd < 0 ? errno : read_all(fd, text);
    if (fd >= 0)
        ::close(fd);
    if (problem != 0)
        throw bad_word(fmt::format("cannot read {}: {}", name, std::strerror(problem)));
    return text;
}

std::string read_standard_input() {
    std::string text;
    if (int problem = read_all(STDIN_FILENO, text))
        throw bad_word(fmt::format("cannot read standard input: {}", std::strerror(problem)));
    return text;
}

}  // namespace corozk::program
