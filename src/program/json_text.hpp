// SPDX-License-Identifier: Apache-2.0
// JSON is UTF-8, but the data of a znode may be any bytes.
#pragma once

#include <boost/json/value.hpp>

#include <string>
#include <string_view>

namespace corozk::program {

bool is_utf8(std::string_view bytes);

/// Replaces each byte that is not part of a character by U+FFFD.
std::string valid_text(std::string_view bytes);

/// Makes every string valid. For each member that was not, adds another one, whose name ends in
/// "_base64", with all bytes.
void make_valid(boost::json::value& value);

}  // namespace corozk::program
