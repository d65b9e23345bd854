// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace corozk::bench {

/// A line in a picture, or the bars of one colour.
struct plot_series {
    std::string implementation;  ///< has a colour of its own
    std::string title;
    bool secondary = false;  ///< of the same colour as another one: dashed, or pale
    std::vector<std::pair<double, double>> points;
    std::vector<double> failures;  ///< where it was tried and failed
};

enum class plot_unit { seconds, bytes, count, percent };

enum class plot_axis {
    number,    ///< logarithmic
    share,     ///< 1 / (1 - share of all)
    percent,   ///< from 0 to 100
    category,  ///< a group of bars for each: x is its index
};

struct plot {
    std::string name;  ///< of the file, without ending
    std::string title;
    std::string caption;
    std::string x_title;
    std::string y_title;
    plot_unit unit = plot_unit::count;
    plot_axis x_axis = plot_axis::number;
    bool tics_at_points = false;
    bool from_zero = false;  ///< y is not logarithmic
    std::string workload;    ///< of the rows that it shows
    std::vector<std::string> categories;
    std::vector<plot_series> series;
};

/// @throws usage_error if there is no gnuplot; it says what to install
void require_gnuplot();

/// Draws it into FOLDER/NAME.svg, and leaves the script NAME.gp beside it. The picture has no
/// background, and its text follows the reader's light or dark setting.
/// @return the picture
std::string draw(const plot& p, const std::filesystem::path& folder);

}  // namespace corozk::bench
