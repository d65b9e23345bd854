// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/object.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// A figure in a table.
struct column {
    std::string_view title;
    std::string_view key;
    std::string (*text)(double);  ///< null: a word, as it is
    bool is_bad = false;          ///< more than 0 is
};

/// What most rows have, in the order of tables.
std::span<const column> common_columns();

/// As HTML: what a row is about, then the columns for which a row has something.
/// @param labels keys of what a row is about, besides who
std::string table_of(const std::vector<const boost::json::object*>& rows,
                     std::span<const std::string_view> labels,
                     std::span<const column> columns);

/// As HTML: every word and figure that the rows have, under its key.
std::string plain_table_of(const std::vector<const boost::json::object*>& rows);

}  // namespace corozk::bench
