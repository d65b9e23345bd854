// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/plot.hpp"

#include <boost/json/array.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// A figure of a row that is a bar, in the category that the row gives it.
struct bar_figure {
    std::string_view key;
    std::string (*category)(const boost::json::object&);
    std::string_view implementation = {};  ///< if it is not the row's own
    std::string_view title = {};
};

/// A picture of bars: groups of what was done, a bar for each that did it.
struct by_category {
    std::string_view name;
    std::string_view title;
    std::string_view caption;
    std::string_view y_title;
    plot_unit unit = plot_unit::count;
    double scale = 1;
    std::string_view workload;
    std::vector<bar_figure> figures;
    bool from_zero = false;
    plot_series (*series)(const boost::json::object&) = nullptr;
};

/// If the rows have something for it.
void add_pictures(std::vector<plot>& all, const by_category& about, const boost::json::array& rows);

}  // namespace corozk::bench
