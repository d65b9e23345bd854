// SPDX-License-Identifier: Apache-2.0
// JSON is text, and what is in a node may be anything.
#pragma once

#include <boost/json/value.hpp>

#include <string>
#include <string_view>

namespace corozk::program {

bool is_utf8(std::string_view bytes) noexcept;

/// As it is, or with U+FFFD in place of every byte that is part of no character.
std::string valid_text(std::string_view bytes);

std::string base64(std::string_view bytes);

/// Makes every string valid. Of those that were not, all the bytes are in another member of the
/// object, with "_base64" behind the name: a string, or an array where it was in one.
void make_valid(boost::json::value& value);

}  // namespace corozk::program
