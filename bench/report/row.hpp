// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/object.hpp>

#include <set>
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

/// In what else rows of the same recipe, waiters and sessions differ: ", limit 10, 4 processes", or for a
/// prediction ", held for 100 ms, 3 servers". Empty where each of these is one.
std::string extent_of(const boost::json::object& row);

/// What it was measured on: ", 3 servers, data on disk". Empty of one server that keeps data in memory.
std::string servers_of(const boost::json::object& row);

bool has_failed(const boost::json::object& row);

/// What people call the implementation of a row.
std::string title_of(const boost::json::object& row);

/// Letters and digits; anything else is a dash.
std::string to_file_name(std::string_view text);

/// As short as a file's name has to be, and with a number behind it where it is taken; it is taken then.
std::string unique(const std::string& name, std::set<std::string>& taken);

/// "shared_lock" without what only a program reads.
std::string plain_words(std::string text);

}  // namespace corozk::bench
