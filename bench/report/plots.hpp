// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/plot.hpp"

#include <boost/json/array.hpp>

#include <vector>

namespace corozk::bench {

/// All pictures for which the rows have something to show.
std::vector<plot> plots_for(const boost::json::array& rows);

/// What people call the implementation of a row.
std::string title_of(const boost::json::object& row);

/// A figure of a row; a dot in the key leads into an object. 0 if there is none.
double figure_of(const boost::json::object& row, std::string_view key);

std::string text_of(const boost::json::object& row, std::string_view key);

/// What a distribution is called: the work, the numbers, the implementation.
std::string name_of_distribution(const boost::json::object& row);

}  // namespace corozk::bench
