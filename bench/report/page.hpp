// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/plot.hpp"

#include <boost/json/array.hpp>

#include <string>
#include <vector>

namespace corozk::bench {

struct drawn_plot {
    plot about;
    std::string svg;
};

/// A page that needs nothing else: the pictures, the figures, and with what they were measured.
std::string page_for(const boost::json::array& rows, const std::vector<drawn_plot>& plots);

/// Whether the text is of such a page, with whatever rows.
bool is_page(const std::string& text);

}  // namespace corozk::bench
