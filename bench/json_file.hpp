// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "result.hpp"
#include "stage.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// All figures: an object per row. Each one says what it was measured with ("run"), so that rows of
/// several runs can be put together.
/// @param facts about this run, besides what is known of every run
boost::json::array rows_of(std::string_view command,
                           std::span<const std::string_view> words,
                           const stage& on,
                           const boost::json::object& facts,
                           const std::vector<result>& results);

/// Where the figures go, besides the table.
class json_file {
public:
    /// Fails at once if the file cannot be written. An empty name: nothing is written.
    explicit json_file(std::string name);
    /// Leaves no empty file behind where there was none.
    ~json_file();
    json_file(const json_file&) = delete;
    json_file& operator=(const json_file&) = delete;

    void write(const boost::json::array& rows);

private:
    std::string name_;
    bool is_new_ = false;
};

}  // namespace corozk::bench
