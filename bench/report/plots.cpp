// SPDX-License-Identifier: Apache-2.0
#include "report/plots.hpp"

#include "report/number_plots.hpp"
#include "report/row.hpp"
#include "report/section.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace corozk::bench {

namespace {

using boost::json::object;

/// What a distribution is one of: everything but the implementation.
std::string title_of_work(const object& row) {
    std::string text = workload_of(row);
    if (auto recipe = text_of(row, "recipe"); !recipe.empty() && recipe != text)
        text += ", " + recipe;
    if (auto operation = text_of(row, "operation"); !operation.empty())
        text += ", " + operation;
    if (double waiters = figure_of(row, "waiters"); waiters > 0)
        text += ", " + counted(static_cast<std::size_t>(waiters), "waiter");
    if (double sessions = figure_of(row, "sessions"); sessions > 0)
        text += ", " + sessions_text(sessions);
    text += extent_of(row);
    return plain_words(std::move(text));
}

void add_distributions(std::vector<plot>& all, const boost::json::array& rows) {
    std::map<std::string, plot> plots;
    for (const auto& value : rows) {
        const object& row = value.as_object();
        const auto* distribution = row.if_contains("distribution_us");
        if (!distribution || has_failed(row))
            continue;
        std::string work = title_of_work(row);
        plot& p = plots[work];
        if (p.name.empty()) {
            p.name = "latency-" + to_file_name(work);
            p.title = work;
            p.caption =
                "How many of all take at most how long; the further to the right, the rarer.";
            p.x_title = "share of all";
            p.y_title = "latency";
            p.unit = plot_unit::seconds;
            p.x_axis = plot_axis::share;
            p.workload = text_of(row, "workload");
        }
        plot_series& s = series_for(p, row);
        s.points.clear();
        for (const auto& each : distribution->as_object().at("percentiles").as_array()) {
            const auto& point = each.as_array();
            double share = point.at(1).to_number<double>();
            double value_us = point.at(0).to_number<double>();
            if (share < 1 && value_us > 0)
                s.points.emplace_back(1 / (1 - share), value_us * 1e-6);
        }
    }
    for (auto& [work, p] : plots) {
        order(p);
        if (std::any_of(p.series.begin(), p.series.end(), [](const plot_series& s) {
                return s.points.size() > 1;
            }))
            all.push_back(std::move(p));
    }
}

}  // namespace

std::string name_of_distribution(const object& row) {
    return "latency-" + to_file_name(title_of_work(row) + " " + text_of(row, "implementation"));
}

std::vector<plot> plots_for(const boost::json::array& rows) {
    std::vector<plot> all;
    for (const section& s : all_sections()) {
        for (const by_number& about : s.lines)
            add_pictures(all, about, rows);
        for (const by_category& about : s.bars)
            add_pictures(all, about, rows);
    }
    add_distributions(all, rows);
    std::set<std::string> names;
    for (plot& p : all)
        p.name = unique(p.name, names);
    return all;
}

}  // namespace corozk::bench
