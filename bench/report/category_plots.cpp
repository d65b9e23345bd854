// SPDX-License-Identifier: Apache-2.0
#include "report/category_plots.hpp"

#include "report/number_plots.hpp"
#include "report/row.hpp"

#include <algorithm>

namespace corozk::bench {

namespace {

using boost::json::object;

double place_of(plot& p, const std::string& category) {
    auto at = std::find(p.categories.begin(), p.categories.end(), category);
    if (at == p.categories.end())
        at = p.categories.insert(at, category);
    return static_cast<double>(at - p.categories.begin());
}

plot_series& series_of(plot& p, const by_category& about, const bar_figure& f, const object& row) {
    if (f.implementation.empty())
        return series_for(p, row, about.series);
    object other;
    other["implementation"] = f.implementation;
    other["title"] = f.title;
    return series_for(p, other);
}

}  // namespace

void add_pictures(std::vector<plot>& all,
                  const by_category& about,
                  const boost::json::array& rows) {
    plot p;
    p.name = about.name;
    p.title = about.title;
    p.caption = about.caption;
    p.y_title = about.y_title;
    p.unit = about.unit;
    p.x_axis = plot_axis::category;
    p.from_zero = about.from_zero;
    p.workload = about.workload;
    std::size_t drawn = 0;
    for (const auto& value : rows) {
        const object& row = value.as_object();
        if (text_of(row, "workload") != about.workload || has_failed(row))
            continue;
        for (const bar_figure& f : about.figures) {
            double figure = figure_of(row, f.key) * about.scale;
            if (figure <= 0)
                continue;
            double place = place_of(p, f.category(row));
            series_of(p, about, f, row).points.emplace_back(place, figure);
            ++drawn;
        }
    }
    if (drawn < 2)
        return;
    order(p);
    all.push_back(std::move(p));
}

}  // namespace corozk::bench
