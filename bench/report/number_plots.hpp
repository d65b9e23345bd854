// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/plot.hpp"

#include <boost/json/array.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace corozk::bench {

/// A line that has the same name in every row: what the main figure is to be seen beside.
struct fixed_line {
    std::string_view key;
    std::string_view title;
    std::string_view implementation = "reference";  ///< whose colour
    bool secondary = false;
};

/// Pictures of a figure by a number, such as that of waiters: a line for each implementation.
struct by_number {
    std::string_view name;
    std::string_view title;  ///< "{}" becomes the recipe
    std::string_view caption;
    std::string_view y_title;
    plot_unit unit = plot_unit::count;
    std::string_view key = {};  ///< none: the fixed lines alone
    double scale = 1;
    std::string_view workload;
    std::vector<fixed_line> fixed = {};
    std::string_view x_key = "waiters";
    std::string_view x_title = {};  ///< if it is not the key
    plot_axis x_axis = plot_axis::number;
    /// There is a picture for each of its numbers, and for each recipe. Who has a session for each
    /// waiter is a kind of its own.
    std::string_view group_key = "sessions";
    std::string_view group_title = {};  ///< "client"; of sessions it is known
    plot_series (*series)(const boost::json::object&) = nullptr;  ///< if not by implementation
};

/// Those that the rows have something for.
void add_pictures(std::vector<plot>& all, const by_number& about, const boost::json::array& rows);

/// These count as hand-overs: they are, with more waiters, or by somebody else's recipe.
std::string workload_of(const boost::json::object& row);

/// "one session"; 0 is one for each waiter.
std::string sessions_text(double sessions);

/// The line of this row's implementation, made if it is not there.
plot_series& series_for(plot& p,
                        const boost::json::object& row,
                        plot_series (*series)(const boost::json::object&) = nullptr);

/// Puts lines and their points in order.
void order(plot& p);

}  // namespace corozk::bench
