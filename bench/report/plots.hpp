// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/plot.hpp"

#include <boost/json/array.hpp>

#include <vector>

namespace corozk::bench {

/// All pictures for which the rows have something to show.
std::vector<plot> plots_for(const boost::json::array& rows);

/// What a distribution is called: the work, the numbers, the implementation.
std::string name_of_distribution(const boost::json::object& row);

}  // namespace corozk::bench
