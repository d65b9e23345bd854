// SPDX-License-Identifier: Apache-2.0
#include "report/category_plots.hpp"

#include "report/number_plots.hpp"
#include "report/row.hpp"

#include <algorithm>
#include <map>

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

plot make_plot(const by_category& about, const object& row) {
    std::string servers = servers_of(row);
    plot p;
    p.name = about.name;
    if (!servers.empty())
        p.name += "-" + to_file_name(servers);
    p.title = std::string(about.title) + servers;
    p.caption = about.caption;
    p.y_title = about.y_title;
    p.unit = about.unit;
    p.x_axis = plot_axis::category;
    p.from_zero = about.from_zero;
    p.workload = about.workload;
    return p;
}

}  // namespace

void add_pictures(std::vector<plot>& all,
                  const by_category& about,
                  const boost::json::array& rows) {
    std::map<std::string, plot> by_servers;
    for (const auto& value : rows) {
        const object& row = value.as_object();
        if (text_of(row, "workload") != about.workload || has_failed(row))
            continue;
        plot& p = by_servers.try_emplace(servers_of(row), make_plot(about, row)).first->second;
        for (const bar_figure& f : about.figures) {
            double figure = figure_of(row, f.key) * about.scale;
            if (figure <= 0)
                continue;
            double place = place_of(p, f.category(row));
            series_of(p, about, f, row).points.emplace_back(place, figure);
        }
    }
    for (auto& [servers, p] : by_servers) {
        std::size_t drawn = 0;
        for (const plot_series& s : p.series)
            drawn += s.points.size();
        if (drawn < 2)
            continue;
        order(p);
        all.push_back(std::move(p));
    }
}

}  // namespace corozk::bench
