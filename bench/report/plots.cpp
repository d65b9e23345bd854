// SPDX-License-Identifier: Apache-2.0
#include "report/plots.hpp"

#include "statistics.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <tuple>

namespace corozk::bench {

namespace {

using boost::json::object;

/// A picture of a figure by the number of waiters.
struct by_waiters {
    std::string_view name;
    std::string_view title;
    std::string_view caption;
    std::string_view y_title;
    plot_unit unit;
    std::string_view key;
    double scale;
    std::string_view workload;        ///< "" for both kinds of contest
    std::string_view reference = {};  ///< the same without what it is about, in every row
};

constexpr std::array pictures{
    by_waiters{"neighbour",
               "What another client notices of {}",
               "Reads of a client that has nothing to do with it, 200 a second at fixed times, "
               "while it is released ten times a second: how long 99 of 100 take at most. Dashed: "
               "while all wait and nothing is released.",
               "a read, 99th percentile",
               plot_unit::seconds,
               "neighbour_us.p99",
               1e-6,
               "herd",
               "neighbour_idle_us.p99"},
    by_waiters{"handover-latency",
               "Passing {} on",
               "Median time from right before a release until the next waiter has it. A cross: "
               "tried with so many, and failed.",
               "hand-over, median",
               plot_unit::seconds,
               "handover_us.p50",
               1e-6,
               "handover"},
    by_waiters{"bytes",
               "Network bytes for each hand-over of {}",
               "What clients and server send each other while it is passed on once.",
               "bytes per hand-over",
               plot_unit::bytes,
               "bytes_per_handover",
               1,
               "handover"},
    by_waiters{"requests",
               "Requests for each hand-over of {}",
               "Requests of all clients while it is passed on once.",
               "requests per hand-over",
               plot_unit::count,
               "requests_per_handover",
               1,
               "handover"},
    by_waiters{"memory",
               "Memory of each waiter for {}",
               "What the client process grows by while all queue, divided by their number; Java "
               "without what its heap has free after a collection.",
               "memory per waiter",
               plot_unit::bytes,
               "memory_per_waiter_bytes",
               1,
               "handover"},
    by_waiters{"herd-notifications",
               "What one release of {} stirs up: notifications",
               "Watch events that the server sends until all is quiet again; one for each session "
               "and node at the most.",
               "notifications per release",
               plot_unit::count,
               "notifications_per_handover",
               1,
               "herd"},
    by_waiters{"herd-requests",
               "What one release of {} stirs up: requests",
               "Requests of all clients until all is quiet again.",
               "requests per release",
               plot_unit::count,
               "requests_per_handover",
               1,
               "herd"},
};

/// These count as hand-overs: they are, with more waiters, or by somebody else's recipe.
std::string workload_of(const object& row) {
    std::string workload = text_of(row, "workload");
    bool contest =
        workload == "many" || workload == "demo" || workload == "semaphore" || workload == "judge";
    return contest ? "handover" : workload;
}

std::string recipe_name(const std::string& recipe) {
    static const std::map<std::string, std::string> names{
        {"lock", "a lock"},
        {"shared_lock", "a shared lock"},
        {"shared_lock_writers", "a shared lock (writers only)"},
        {"semaphore", "a permit"},
        {"election", "leadership"},
        {"election_run", "leadership (scoped)"}};
    auto at = names.find(recipe);
    return at == names.end() ? recipe : at->second;
}

/// In the order of their importance, whatever the order of rows.
std::size_t rank_of(std::string_view implementation) {
    constexpr std::array<std::string_view, 7> order{
        "ours", "curator", "kazoo", "zookeeper", "textbook", "herd", "c_client"};
    return static_cast<std::size_t>(std::find(order.begin(), order.end(), implementation) -
                                    order.begin());
}

bool has_failed(const object& row) {
    return !text_of(row, "failure").empty();
}

/// The rows of one picture that are about the same, apart from the number of waiters. Who has a
/// session for each waiter is a kind of its own.
using group_key = std::tuple<std::string, double>;  // recipe, sessions (0: as many as waiters)

group_key group_of(const object& row) {
    double sessions = figure_of(row, "sessions");
    double waiters = figure_of(row, "waiters");
    return {text_of(row, "recipe"), sessions > 1 && sessions == waiters ? 0 : sessions};
}

plot_series& series_for(plot& p, const object& row) {
    std::string implementation = text_of(row, "implementation");
    auto at = std::find_if(p.series.begin(), p.series.end(), [&](const plot_series& s) {
        return s.implementation == implementation;
    });
    if (at == p.series.end()) {
        plot_series s;
        s.implementation = implementation;
        s.title = title_of(row);
        at = p.series.insert(at, std::move(s));
    }
    return *at;
}

void order(plot& p) {
    std::sort(p.series.begin(), p.series.end(), [](const auto& a, const auto& b) {
        return rank_of(a.implementation) < rank_of(b.implementation);
    });
    for (auto& s : p.series) {
        std::sort(s.points.begin(), s.points.end());
        // Of several rows with the same number the last one counts.
        auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
        s.points.erase(std::unique(s.points.begin(), s.points.end(), same), s.points.end());
    }
}

std::string sessions_text(double sessions) {
    if (sessions == 0)
        return "a session for each";
    return sessions == 1 ? "one session" : count_text(sessions) + " sessions";
}

plot make_plot(const by_waiters& about, const group_key& key) {
    const auto& [recipe, sessions] = key;
    plot p;
    p.name = fmt::format(
        "{}-{}-{}", about.name, recipe, sessions == 0 ? "each" : fmt::format("{}", sessions));
    p.title = fmt::format(fmt::runtime(about.title), recipe_name(recipe)) + ", " +
              sessions_text(sessions);
    p.caption = about.caption;
    p.x_title = "waiters";
    p.y_title = about.y_title;
    p.unit = about.unit;
    return p;
}

/// By the number of waiters, all implementations together.
void add_reference(plot& p,
                   const by_waiters& about,
                   const std::map<double, std::vector<double>>& figures) {
    plot_series s;
    s.implementation = "reference";
    s.title = "no release";
    for (const auto& [waiters, values] : figures)
        s.points.emplace_back(waiters, median(values) * about.scale);
    p.series.push_back(std::move(s));
}

void add_pictures(std::vector<plot>& all, const by_waiters& about, const boost::json::array& rows) {
    std::map<group_key, plot> plots;
    std::map<group_key, std::map<double, std::vector<double>>> references;
    for (const auto& value : rows) {
        const object& row = value.as_object();
        if (workload_of(row) != about.workload || figure_of(row, "locks") > 1)
            continue;
        double waiters = figure_of(row, "waiters");
        double figure = figure_of(row, about.key) * about.scale;
        // On a logarithmic axis: less than a hundredth of an event is none.
        if (figure > 0 && about.unit == plot_unit::count)
            figure = std::max(figure, 0.01);
        if (!has_failed(row) && figure <= 0)
            continue;
        auto at = plots.try_emplace(group_of(row), make_plot(about, group_of(row))).first;
        plot_series& s = series_for(at->second, row);
        if (has_failed(row)) {
            s.failures.push_back(waiters);
        } else {
            s.points.emplace_back(waiters, figure);
            references[group_of(row)][waiters].push_back(figure_of(row, about.reference));
        }
    }
    for (auto& [key, p] : plots) {
        std::set<double> numbers;
        for (const auto& s : p.series) {
            for (auto [x, y] : s.points)
                numbers.insert(x);
        }
        if (numbers.size() < 2)
            continue;  // no line
        if (!about.reference.empty())
            add_reference(p, about, references[key]);
        order(p);
        all.push_back(std::move(p));
    }
}

/// What a distribution is one of: everything but the implementation.
std::string title_of_work(const object& row) {
    std::string text = workload_of(row);
    if (auto recipe = text_of(row, "recipe"); !recipe.empty() && recipe != text)
        text += ", " + recipe;
    if (auto operation = text_of(row, "operation"); !operation.empty())
        text += ", " + operation;
    if (double waiters = figure_of(row, "waiters"); waiters > 0)
        text += fmt::format(", {} waiters", count_text(waiters));
    if (double sessions = figure_of(row, "sessions"); sessions > 0)
        text += ", " + sessions_text(sessions);
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

std::string to_file_name(const std::string& text) {
    std::string name;
    for (char c : text) {
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (plain) {
            name += c;
        } else if (c != ',' && !name.empty() && name.back() != '-') {
            name += '-';
        }
    }
    return name;
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
            p.percentiles = true;
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

double figure_of(const object& row, std::string_view key) {
    auto dot = key.find('.');
    const auto* value = row.if_contains(key.substr(0, dot));
    if (!value)
        return 0;
    if (dot != key.npos)
        return value->is_object() ? figure_of(value->get_object(), key.substr(dot + 1)) : 0;
    return value->is_number() ? value->to_number<double>() : 0;
}

std::string text_of(const object& row, std::string_view key) {
    const auto* value = row.if_contains(key);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string title_of(const object& row) {
    if (std::string title = text_of(row, "title"); !title.empty())
        return title;
    static const std::map<std::string, std::string> names{{"ours", "corozk"},
                                                          {"textbook", "textbook recipe"},
                                                          {"herd", "herd"},
                                                          {"c_client", "bare C loop"}};
    std::string implementation = text_of(row, "implementation");
    auto at = names.find(implementation);
    return at == names.end() ? implementation : at->second;
}

std::string name_of_distribution(const object& row) {
    return "latency-" + to_file_name(title_of_work(row) + " " + text_of(row, "implementation"));
}

std::vector<plot> plots_for(const boost::json::array& rows) {
    std::vector<plot> all;
    for (const auto& about : pictures)
        add_pictures(all, about, rows);
    add_distributions(all, rows);
    return all;
}

}  // namespace corozk::bench
