// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "settings.hpp"

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// The command line makes no sense; the text says what to do about it.
class usage_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// One option: `--name VALUE`, or `--name` alone where `value` is empty.
struct option {
    std::string_view name;
    std::string_view value;
    std::string_view help;
    void (*apply)(settings&, std::string_view);
    /// The names that the value may consist of; null if there are none. Those of "A|B" are in `value`.
    std::vector<std::string_view> (*names)() = nullptr;
};

/// Every option that there is.
std::span<const option> all_options();

/// The options that every command takes; fewer if it only looks at servers of others.
std::span<const std::string_view> common_options(bool look_only);

const option& find_option(std::string_view name);

/// Applies the words to the settings. @return whether help was asked for.
bool parse_arguments(std::span<const std::string_view> words,
                     std::span<const std::string_view> accepted,
                     settings& s);

/// Refuses several numbers where a command measures with one.
void require_one(std::string_view option, const std::vector<std::size_t>& numbers);

/// What was probably meant: the candidate that is most like the word, or "" if none is.
std::string_view closest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace corozk::bench
