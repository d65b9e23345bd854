// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/object.hpp>

#include <string>
#include <string_view>

namespace corozk::bench {

// What a row of --json says. A dot in a key leads into an object.

/// Null if it is not there.
const boost::json::value* value_of(const boost::json::object& row, std::string_view key);

/// 0 if there is none.
double figure_of(const boost::json::object& row, std::string_view key);

bool has_figure(const boost::json::object& row, std::string_view key);

/// Empty if there is none.
std::string text_of(const boost::json::object& row, std::string_view key);

bool has_failed(const boost::json::object& row);

/// What people call the implementation of a row.
std::string title_of(const boost::json::object& row);

/// "shared_lock" without what only a program reads.
std::string plain_words(std::string text);

}  // namespace corozk::bench
