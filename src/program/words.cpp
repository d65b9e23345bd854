// SPDX-License-Identifier: Apache-2.0
#include "words.hpp"

#include "json_text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <system_error>

namespace corozk::program {

namespace {

permission parse_permissions(std::string_view letters) {
    static const std::map<char, permission> known{{'c', permission::create},
                                                  {'d', permission::erase},
                                                  {'r', permission::read},
                                                  {'w', permission::write},
                                                  {'a', permission::admin}};
    permission result = permission::none;
    if (letters.empty())
        throw usage_error(
            "an access control list without permissions: they follow the last ':', as "
            "in world:anyone:r");
    for (char c : letters) {
        auto found = known.find(c);
        if (found == known.end())
            throw usage_error(fmt::format(
                "there is no permission '{}': c create, d delete, r read, w write, a admin", c));
        result = result | found->second;
    }
    return result;
}

std::string read(std::FILE* file, const std::string& name) {
    std::string text;
    char part[65536];
    while (std::size_t size = file ? std::fread(part, 1, sizeof part, file) : 0)
        text.append(part, size);
    if (!file || std::ferror(file) != 0)
        throw usage_error(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
    return text;
}

}  // namespace

std::chrono::milliseconds parse_duration(const std::string& text) {
    static const std::map<std::string_view, double> milliseconds{
        {"ms", 1}, {"s", 1000}, {"", 1000}, {"m", 60'000}, {"min", 60'000}, {"h", 3'600'000}};
    char* end = nullptr;
    errno = 0;
    double number = std::strtod(text.c_str(), &end);
    if (number == 0 && errno == ERANGE)
        number = std::numeric_limits<double>::min();
    auto unit = milliseconds.find(end);
    // strtod also knows blanks, signs, "inf", "nan" and hexadecimal numbers.
    bool begins = !text.empty() && (text[0] == '.' || (text[0] >= '0' && text[0] <= '9'));
    bool decimal = text.find_first_of("xX") == std::string::npos;
    if (!begins || !decimal || unit == milliseconds.end())
        throw usage_error(fmt::format("'{}' is not a duration such as 250ms, 30s, 5m or 2h", text));
    double value = std::ceil(number * unit->second);
    return value < static_cast<double>(for_ever.count())
               ? std::chrono::milliseconds(std::llrint(value))
               : for_ever;
}

void check_path(const std::string& path) {
    if (const char* problem = invalid_path_reason(path))
        throw usage_error(fmt::format("'{}' is not a path: it {}", path, problem));
}

void check_recipe_path(const std::string& path) {
    check_path(path);
    if (path == "/")
        throw usage_error("'/' is the root: use a path of its own, such as /locks/backup");
}

auth_info parse_auth(std::string_view text) {
    auto colon = text.find(':');
    // It may be half a password: not quoted.
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size())
        throw usage_error(
            "credentials have the form SCHEME:CREDENTIAL, as in digest:user:password");
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
        throw usage_error(fmt::format("{} contains no credentials", name));
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
        throw usage_error(fmt::format(
            "'{}' is none of the lists open, creator, read-only and SCHEME:ID:cdrwa", text));
    corozk::acl result;
    result.emplace_back(parse_permissions(text.substr(last + 1)),
                        std::string(text.substr(0, first)),
                        std::string(text.substr(first + 1, last - first - 1)));
    return result;
}

std::pair<std::string, std::string> parse_part(std::string_view text) {
    auto equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0)
        throw usage_error(fmt::format("'{}' is not NAME=VALUE or NAME=@FILE", text));
    std::string name(text.substr(0, equals));
    if (name.find('/') != std::string::npos)
        throw usage_error(fmt::format("'{}' cannot be the name of a part: it contains '/'", name));
    check_path("/" + name);
    std::string value(text.substr(equals + 1));
    if (value.starts_with('@'))
        value = read_file(value.substr(1));
    return {std::move(name), std::move(value)};
}

std::pair<std::string, std::uint16_t> parse_endpoint(std::string_view text) {
    auto colon = text.rfind(':');
    std::string_view address = text.substr(0, colon);
    std::string_view digits = colon == std::string_view::npos ? "" : text.substr(colon + 1);
    if (address.starts_with('[') && address.ends_with(']'))
        address = address.substr(1, address.size() - 2);
    else if (address.find(':') != std::string_view::npos)
        address = std::string_view();
    std::uint16_t port = 0;
    auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    bool whole = problem == std::errc() && end == digits.data() + digits.size();
    if (address.empty() || !whole || port == 0)
        throw usage_error(fmt::format(
            "'{}' is not ADDRESS:PORT, as in 10.0.0.5:8080, db1:5432 or [::1]:8080", text));
    if (!is_utf8(address))
        throw usage_error(fmt::format("the address in '{}' is not UTF-8", text));
    return {std::string(address), port};
}

std::string read_file(const std::string& name) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "re"),
                                                         std::fclose);
    return read(file.get(), name);
}

std::string read_standard_input() {
    return read(stdin, "standard input");
}

}  // namespace corozk::program
