// SPDX-License-Identifier: Apache-2.0
#include "report/number_plots.hpp"

#include "report/row.hpp"
#include "statistics.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

namespace corozk::bench {

namespace {

using boost::json::object;

std::string recipe_name(const std::string& recipe) {
    static const std::map<std::string, std::string> names{
        {"lock", "a lock"},
        {"shared_lock", "a shared lock"},
        {"shared_lock_writers", "a shared lock (writers only)"},
        {"semaphore", "a permit"},
        {"election", "leadership"},
        {"election_run", "leadership (scoped)"}};
    auto at = names.find(recipe);
    return at == names.end() ? plain_words(recipe) : at->second;
}

/// In the order of their importance, whatever the order of rows.
std::size_t rank_of(std::string_view implementation) {
    constexpr std::array<std::string_view, 9> ranks{
        "ours", "etcd", "redis", "curator", "kazoo", "zookeeper", "textbook", "herd", "c_client"};
    return static_cast<std::size_t>(std::find(ranks.begin(), ranks.end(), implementation) -
                                    ranks.begin());
}

/// The rows of one picture are about the same, apart from the number: a recipe, and so many of
/// what the picture is grouped by (sessions: 0 is as many as waiters), of the same extent.
using group_key = std::tuple<std::string, double, std::string>;

/// One waiter in one session is the first of both kinds.
std::vector<group_key> groups_of(const object& row, const by_number& about) {
    double number = figure_of(row, about.group_key);
    bool each = about.group_key == "sessions" && number > 0 && number == figure_of(row, "waiters");
    std::vector<group_key> groups;
    if (each)
        groups.emplace_back(text_of(row, "recipe"), 0, extent_of(row));
    if (!each || number == 1)
        groups.emplace_back(text_of(row, "recipe"), number, extent_of(row));
    return groups;
}

std::string group_text(const by_number& about, double number) {
    if (about.group_key == "sessions")
        return ", " + sessions_text(number);
    return about.group_title.empty()
               ? ""
               : ", " + counted(static_cast<std::size_t>(number), about.group_title);
}

std::string file_name(const by_number& about, const std::string& recipe, double number) {
    if (about.group_key == "sessions" && number == 0)
        return fmt::format("{}-{}-each", about.name, recipe);
    return about.group_key.empty() ? fmt::format("{}-{}", about.name, recipe)
                                   : fmt::format("{}-{}-{}", about.name, recipe, number);
}

plot make_plot(const by_number& about, const group_key& key, const object& row) {
    const auto& [recipe, number, extent] = key;
    plot p;
    p.name = file_name(about, recipe, number);
    if (!extent.empty())
        p.name += "-" + to_file_name(extent);
    std::replace(p.name.begin(), p.name.end(), '/', '-');
    p.title = fmt::format(fmt::runtime(about.title), recipe_name(recipe)) +
              group_text(about, number) + extent;
    p.caption = about.caption;
    p.x_title = about.x_title.empty() ? about.x_key : about.x_title;
    p.y_title = about.y_title;
    p.unit = about.unit;
    p.x_axis = about.x_axis;
    p.tics_at_points = about.x_key != "waiters";
    p.workload = text_of(row, "workload");
    return p;
}

/// One picture, and what its fixed lines are the medians of.
struct drawing {
    plot picture;
    std::vector<std::map<double, std::vector<double>>> fixed;
};

void add_fixed_lines(drawing& d, const by_number& about) {
    for (std::size_t i = 0; i < about.fixed.size(); ++i) {
        const fixed_line& f = about.fixed[i];
        plot_series s;
        s.implementation = f.implementation;
        s.title = f.title;
        s.secondary = f.secondary;
        for (const auto& [x, values] : d.fixed[i])
            s.points.emplace_back(x, median(values) * about.scale);
        if (!s.points.empty())
            d.picture.series.push_back(std::move(s));
    }
}

bool has_line(const plot& p) {
    std::set<double> numbers;
    for (const auto& s : p.series) {
        for (auto [x, y] : s.points)
            numbers.insert(x);
    }
    return numbers.size() > 1;
}

/// What a row adds to its picture. @return whether there is anything
bool add_row(drawing& d, const by_number& about, const object& row) {
    double x = figure_of(row, about.x_key);
    if (x <= 0 && about.x_axis == plot_axis::number)
        return false;  // not on a logarithmic axis
    double figure = figure_of(row, about.key) * about.scale;
    // On a logarithmic axis: less than a hundredth of an event is none.
    if (figure > 0 && about.unit == plot_unit::count)
        figure = std::max(figure, 0.01);
    if (!about.key.empty()) {
        if (!has_failed(row) && figure <= 0)
            return false;
        plot_series& s = series_for(d.picture, row, about.series);
        if (has_failed(row)) {
            s.failures.push_back(x);
            return true;
        }
        s.points.emplace_back(x, figure);
    }
    for (std::size_t i = 0; i < about.fixed.size(); ++i) {
        if (double value = figure_of(row, about.fixed[i].key); value > 0)
            d.fixed[i][x].push_back(value);
    }
    return true;
}

}  // namespace

void add_pictures(std::vector<plot>& all, const by_number& about, const boost::json::array& rows) {
    std::map<group_key, drawing> drawings;
    for (const auto& value : rows) {
        const object& row = value.as_object();
        // What waits for many locks is not handed one.
        bool many_locks = about.workload == "handover" && figure_of(row, "locks") > 1;
        if (workload_of(row) != about.workload || many_locks)
            continue;
        for (const group_key& key : groups_of(row, about)) {
            auto at = drawings.find(key);
            if (at != drawings.end()) {
                add_row(at->second, about, row);
                continue;
            }
            drawing fresh{make_plot(about, key, row), {}};
            fresh.fixed.resize(about.fixed.size());
            if (add_row(fresh, about, row))
                drawings.emplace(key, std::move(fresh));
        }
    }
    for (auto& [key, d] : drawings) {
        add_fixed_lines(d, about);
        if (!has_line(d.picture))
            continue;
        order(d.picture);
        all.push_back(std::move(d.picture));
    }
}

std::string workload_of(const object& row) {
    std::string workload = text_of(row, "workload");
    bool contest =
        workload == "many" || workload == "demo" || workload == "semaphore" || workload == "judge";
    return contest ? "handover" : workload;
}

std::string sessions_text(double sessions) {
    if (sessions == 0)
        return "a session for each";
    return sessions == 1 ? "one session" : count_text(sessions) + " sessions";
}

plot_series& series_for(plot& p, const object& row, plot_series (*series)(const object&)) {
    plot_series wanted;
    if (series != nullptr) {
        wanted = series(row);
    } else {
        // A program that is judged may be called anything.
        std::string_view of = text_of(row, "workload") == "judge" ? "judged " : "";
        wanted.implementation = fmt::format("{}{}", of, text_of(row, "implementation"));
        wanted.title = title_of(row);
    }
    auto at = std::find_if(p.series.begin(), p.series.end(), [&](const plot_series& s) {
        return s.implementation == wanted.implementation && s.secondary == wanted.secondary;
    });
    if (at == p.series.end())
        at = p.series.insert(at, std::move(wanted));
    return *at;
}

void order(plot& p) {
    std::multimap<std::size_t, plot_series> by_rank;
    for (auto& s : p.series)
        by_rank.emplace(rank_of(s.implementation), std::move(s));
    p.series.clear();
    for (auto& [rank, s] : by_rank)
        p.series.push_back(std::move(s));
    for (auto& s : p.series) {
        std::stable_sort(s.points.begin(), s.points.end(), [](const auto& a, const auto& b) {
            return a.first < b.first;
        });
        // Of several rows with the same number the last one counts.
        auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
        auto kept = std::unique(s.points.rbegin(), s.points.rend(), same);
        s.points.erase(s.points.begin(), kept.base());
    }
}

}  // namespace corozk::bench
