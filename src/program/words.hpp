// SPDX-License-Identifier: Apache-2.0
// What single words of the command line mean. All throw bad_word.
#pragma once

#include <corozk/options.hpp>
#include <corozk/types.hpp>

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::program {

/// The text says what would have been right. It never quotes a credential.
class bad_word : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A hundred years: whoever adds it to a moment still gets one.
inline constexpr std::chrono::milliseconds for_ever{3'155'760'000'000};

/// "250ms", "30s", "5m", "2h", "1.5"; a bare number means seconds. At most `for_ever`; what is more
/// than nothing is a millisecond at least.
std::chrono::milliseconds parse_duration(std::string_view text);

/// Whether this can be a node's path; the text says why not.
void check_path(std::string_view path);

/// The same for the folder of a recipe, which cannot be the root.
void check_recipe_path(std::string_view path);

/// A whole number between these two.
template <class Number>
Number parse_number(std::string_view text, Number least, Number most) {
    Number number{};
    const char* behind = text.data() + text.size();
    auto [end, ec] = std::from_chars(text.data(), behind, number);
    if (ec != std::errc() || end != behind || number < least || number > most)
        throw bad_word(fmt::format("'{}' is no whole number from {} to {}", text, least, most));
    return number;
}

/// "digest:user:password"; the credential is what stands behind the first colon.
auth_info parse_auth(std::string_view text);

/// One per line; empty lines and lines that begin with '#' do not count.
std::vector<auth_info> parse_auth_file(const std::string& name);

/// "open", "creator", "read-only", or "SCHEME:ID:cdrwa".
corozk::acl parse_acl(std::string_view text);

/// "NAME=VALUE", or "NAME=@FILE" for what is in the file.
std::pair<std::string, std::string> parse_part(std::string_view text);

std::string read_file(const std::string& name);
std::string read_standard_input();

}  // namespace corozk::program
