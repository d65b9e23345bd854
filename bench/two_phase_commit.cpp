// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "contest_rows.hpp"
#include "crew.hpp"
#include "table.hpp"
#include "work_figures.hpp"
#include <corozk/recipe/two_phase_commit.hpp>

#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <stdexcept>

namespace corozk::bench {

namespace {

struct topology {
    commit_form form;
    const char* name;
    const char* title;
};

constexpr topology topologies[] = {
    {commit_form::all_sites, "all_sites", "every site watches every vote"},
    {commit_form::coordinator, "coordinator", "only the coordinator does"},
};

void expect_commit(const commit_outcome& outcome) {
    if (!outcome.committed)
        throw std::logic_error("it was aborted: " + outcome.reason);
}

boost::asio::awaitable<void> take_part(commit_site& site, std::size_t& done) {
    co_await site.join();
    auto outcome = co_await site.vote(commit_vote::commit);
    expect_commit(outcome);
    co_await site.finish();
    ++done;
}

boost::asio::awaitable<void> decide(commit_coordinator& coordinator) {
    auto outcome = co_await coordinator.decide();
    expect_commit(outcome);
}

/// One transaction, from `begin` until all sites have finished. The last session is the
/// coordinator's.
boost::asio::awaitable<void> commit_once(job& j,
                                         std::vector<client>& clients,
                                         const topology& how,
                                         result& r) {
    std::size_t count = clients.size() - 1;
    std::string path = j.on.fresh_path("transaction");
    commit_options options;
    options.form = how.form;
    commit_coordinator coordinator(clients.back(), path, options);
    std::vector<std::string> names;
    std::deque<commit_site> sites;
    for (std::size_t i = 0; i < count; ++i) {
        names.push_back("site-" + std::to_string(i));
        sites.emplace_back(clients[i], path, names.back());
    }
    std::size_t done = 0;
    work_figures figures(clients);
    auto began = clock::now();
    co_await coordinator.begin(std::move(names), "payload");
    auto executor = co_await boost::asio::this_coro::executor;
    crew all(executor, j.on.shown());
    all.add(decide(coordinator));
    for (auto& site : sites)
        all.add(take_part(site, done));
    auto beginning = to_seconds(clock::now() - began);
    double rest = co_await all.finish(fmt::format("two-phase commit: {}", how.title), done, count);
    auto used = figures.used();
    r.add("requests", used.requests).add("notifications", used.notifications);
    r.add("bytes", used.bytes);
    r.add("messages", used.requests + used.notifications);
    r.add("seconds", beginning + rest);
    co_await coordinator.clean_up();
}

struct growth {
    double linear = 0;
    double quadratic = 0;
    double from = 0;      ///< the number before the last one
    double exponent = 0;  ///< from that to the last: messages ~ n^exponent
};

/// messages = linear * n + quadratic * n^2: a line through (n, messages / n) by least squares. Nothing
/// if there are no two different numbers.
std::optional<growth> growth_of(const std::vector<std::pair<double, double>>& points) {
    auto [n, messages] = points.back();
    auto before = std::find_if(
        points.rbegin(), points.rend(), [n = n](const auto& p) { return p.first != n; });
    if (before == points.rend())
        return std::nullopt;
    double count = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (auto [number, sent] : points) {
        double each = sent / number;
        count += 1, x += number, y += each, xx += number * number, xy += number * each;
    }
    growth g;
    g.quadratic = (count * xy - x * y) / (count * xx - x * x);
    g.linear = (y - g.quadratic * x) / count;
    g.from = before->first;
    g.exponent = std::log(messages / before->second) / std::log(n / g.from);
    return g;
}

}  // namespace

boost::asio::awaitable<void> run_two_phase_commit(job& j) {
    table t({"",
             "sites",
             "messages",
             "requests",
             "events",
             "bytes",
             "messages / n",
             "messages / n^2",
             "time",
             "/ floor"});
    std::string exponents;
    for (const topology& how : topologies) {
        std::vector<std::pair<double, double>> points;
        for (std::size_t sites : j.wanted.sites) {
            result row;
            row.set("implementation", "ours").set("recipe", "two_phase_commit");
            row.set("form", how.name).set("sites", sites).set("sessions", sites + 1);
            row.set("processes", 1).set("threads", 1).set("repeat", j.wanted.repeat);
            auto clients = co_await j.on.connect(sites + 1);
            for (std::size_t i = 0; i < j.wanted.repeat; ++i) {
                auto floor = j.on.floor(floor_samples / 4);
                co_await commit_once(j, clients, how, row);
                row.add("time_us", row.last("seconds") * 1e6);
                stage::add_floor(row, floor, "time_us");
            }
            co_await stage::close(clients);
            double n = static_cast<double>(sites);
            double messages = row.median("messages");
            points.emplace_back(n, messages);
            t.add({how.title,
                   count_text(n),
                   count_text(messages),
                   count_text(row.median("requests")),
                   count_text(row.median("notifications")),
                   bytes_text(row.median("bytes")),
                   figure_text(messages / n),
                   figure_text(messages / (n * n)),
                   microseconds_text(row.median("time_us")),
                   ratio_text(row.median("floor_ratio"))});
            j.results.push_back(std::move(row));
        }
        if (auto g = growth_of(points)) {
            exponents += fmt::format(
                "{}: messages = {:.1f} n {:+.2f} n^2; from {} to {} sites they grow with "
                "n^{:.2f}\n",
                how.title,
                g->linear,
                g->quadratic,
                count_text(g->from),
                count_text(points.back().first),
                g->exponent);
            result& last = j.results.back();
            last.add("messages_linear", g->linear).add("messages_quadratic", g->quadratic);
            last.add("messages_exponent", g->exponent);
        }
    }
    j.output = heading(j) + "\n" + t.str() + "\n" + exponents;
    j.output +=
        "messages: requests and watch events of all sessions (each site has one, and the "
        "coordinator) "
        "from the beginning until every site has finished; an answer belongs to its "
        "request\nfloor: "
        "one session's delete to another session's watch event, bare C client; medians\n";
}

}  // namespace corozk::bench
