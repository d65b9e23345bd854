// SPDX-License-Identifier: Apache-2.0
// The syntax of single arguments. All functions throw usage_error.
#pragma once

#include <corozk/options.hpp>
#include <corozk/types.hpp>

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/CLI.hpp>

namespace corozk::program {

/// Its text says what would be right. It never quotes a credential.
using usage_error = CLI::ValidationError;

/// As CLI11's, which completion also relies on, but with words of our own.
class one_of : public CLI::IsMember {
public:
    template <class Set>
    explicit one_of(const Set& known) : CLI::IsMember(known) {
        std::string names = get_description();  // "{a,b}"
        names = names.substr(1, names.size() - 2);
        func_ = [listed = func_, names](std::string& word) {
            if (listed(word).empty())
                return std::string();
            return fmt::format("'{}' is none of {}", word, names);
        };
    }
};

/// A hundred years: still valid when added to a time point.
inline constexpr std::chrono::milliseconds for_ever{3'155'760'000'000};

/// "250ms", "30s", "5m", "2h", "1.5"; a bare number is in seconds. At most `for_ever`, and at least a
/// millisecond unless it is 0.
std::chrono::milliseconds parse_duration(const std::string& text);

/// A whole number with decimal digits only: "010" is ten.
template <class Number>
Number parse_number(const std::string& text, Number least, Number most) {
    Number number{};
    const char* end = text.data() + text.size();
    auto [behind, problem] = std::from_chars(text.data(), end, number);
    const bool whole = problem == std::errc() && behind == end;
    if (!whole || number < least || number > most)
        throw usage_error(
            fmt::format("'{}' is not a whole number from {} to {}", text, least, most));
    return number;
}

/// Refuses what cannot be a znode's path.
void check_path(const std::string& path);

/// The same for a recipe, whose parent znode cannot be the root.
void check_recipe_path(const std::string& path);

/// "digest:user:password"; the credential follows the first colon.
auth_info parse_auth(std::string_view text);

/// One per line; empty lines and lines that begin with '#' are ignored.
std::vector<auth_info> parse_auth_file(const std::string& name);

/// "open", "creator", "read-only", or "SCHEME:ID:cdrwa".
corozk::acl parse_acl(std::string_view text);

/// "NAME=VALUE", or "NAME=@FILE" for the contents of a file.
std::pair<std::string, std::string> parse_part(std::string_view text);

/// "10.0.0.5:8080", "db1:5432", "[::1]:8080"
std::pair<std::string, std::uint16_t> parse_endpoint(std::string_view text);

std::string read_file(const std::string& name);
std::string read_standard_input();

}  // namespace corozk::program
