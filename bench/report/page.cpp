// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

#include "report/plots.hpp"
#include "table.hpp"

#include <boost/json/serialize.hpp>

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

namespace corozk::bench {

namespace {

using boost::json::object;

constexpr std::string_view style = R"(
:root { color-scheme: light dark; color: #1f2328; --line: #d0d7de; --soft: #59636e;
        --paper: #ffffff; --bad: #b42318; }
@media (prefers-color-scheme: dark) {
  :root { color: #d1d7e0; --line: #3d444d; --soft: #9198a1; --paper: #151b23; --bad: #ff8078; }
}
body { font: 16px/1.5 system-ui, sans-serif; background: var(--paper); color: inherit;
       margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
figure { margin: 1.5rem 0; } figure svg { width: 100%; height: auto; }
figcaption, .soft { color: var(--soft); font-size: .9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
td, th { border-bottom: 1px solid var(--line); padding: .25rem .6rem; text-align: right;
         white-space: nowrap; }
td:first-child, th:first-child { text-align: left; }
td.fails { color: var(--bad); text-align: left; white-space: normal; }
)";

std::string escaped(std::string_view text) {
    std::string result;
    for (char c : text) {
        switch (c) {
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '&':
                result += "&amp;";
                break;
            default:
                result += c;
        }
    }
    return result;
}

/// gnuplot calls parts of every picture the same, which must be told apart on one page.
std::string with_own_ids(std::string svg, std::size_t number) {
    std::string suffix = fmt::format("-p{}", number);
    for (std::string_view before : {" id='", " id=\"", "href='#", "href=\"#", "url(#"}) {
        for (std::size_t at = 0; (at = svg.find(before, at)) != svg.npos;) {
            at = svg.find_first_of("'\")", at + before.size());
            if (at == svg.npos)
                break;
            svg.insert(at, suffix);
            at += suffix.size();
        }
    }
    return svg;
}

struct column {
    std::string_view title;
    std::string_view key;
    std::string (*text)(double);
};

constexpr std::array columns{
    column{"waiters", "waiters", count_text},
    column{"sessions", "sessions", count_text},
    column{"processes", "processes", count_text},
    column{"threads", "threads", count_text},
    column{"queue", "queue_s", seconds_text},
    column{"drain", "drain_s", seconds_text},
    column{"p50", "handover_us.p50", microseconds_text},
    column{"p99", "handover_us.p99", microseconds_text},
    column{"p50", "cycle_us.p50", microseconds_text},
    column{"p50", "latency_us.p50", microseconds_text},
    column{"time", "time_us", microseconds_text},
    column{"until it waits", "join_us", microseconds_text},
    column{"per second", "ops_per_s", count_text},
    column{"/ floor", "floor_ratio", ratio_text},
    column{"slower than corozk", "times_corozk", ratio_text},
    column{"requests", "requests_per_handover", figure_text},
    column{"events", "notifications_per_handover", figure_text},
    column{"bytes", "bytes_per_handover", bytes_text},
    column{"requests", "requests_per_operation", figure_text},
    column{"bytes", "bytes_per_operation", bytes_text},
    column{"memory", "memory_per_waiter_bytes", bytes_text},
    column{"client CPU", "client_cpu_us_per_request", microseconds_text},
    column{"server CPU", "server_cpu_us_per_handover", microseconds_text},
    column{"another client's reads p99", "neighbour_us.p99", microseconds_text},
    column{"without releases", "neighbour_idle_us.p99", microseconds_text},
    column{"acquire p50", "acquire_us.p50", microseconds_text},
    column{"p99", "acquire_us.p99", microseconds_text},
    column{"bare set p50", "set_us.p50", microseconds_text},
    column{"p99", "set_us.p99", microseconds_text},
    column{"sets/s by others", "load_per_s", count_text},
    column{"published", "published_s", seconds_text},
    column{"here", "time_s", seconds_text},
    column{"turns/s", "predicted_turns_per_s", figure_text},
    column{"load of a server", "predicted_load", figure_text},
    column{"hand-over", "predicted_handover_us", microseconds_text},
    column{"stall", "max_stall_ms", figure_text},
};

std::string why_without_figures(const object& row) {
    if (auto failure = text_of(row, "failure"); !failure.empty())
        return "fails: " + failure;
    auto reason = text_of(row, "not_run");
    return reason.empty() ? reason : "not run: " + reason;
}

std::string table_for(const std::vector<const object*>& rows) {
    std::vector<const column*> used;
    for (const column& c : columns) {
        for (const object* row : rows) {
            if (figure_of(*row, c.key) > 0) {
                used.push_back(&c);
                break;
            }
        }
    }
    std::string text = "<div class=wide><table><tr><th></th>";
    for (const column* c : used)
        text += fmt::format("<th>{}</th>", escaped(c->title));
    text += "</tr>\n";
    for (const object* row : rows) {
        std::string what = title_of(*row);
        for (std::string_view key : {"recipe", "operation", "case"}) {
            if (auto more = text_of(*row, key); !more.empty())
                what += ", " + more;
        }
        text += fmt::format("<tr><td>{}</td>", escaped(what));
        if (std::string reason = why_without_figures(*row); !reason.empty()) {
            text += fmt::format("<td>{}</td><td class=fails colspan={}>{}</td></tr>\n",
                                count_text(figure_of(*row, "waiters")),
                                used.size() > 1 ? used.size() - 1 : 1,
                                escaped(reason));
            continue;
        }
        for (const column* c : used) {
            double value = figure_of(*row, c->key);
            text += fmt::format("<td>{}</td>", value > 0 ? c->text(value) : "");
        }
        text += "</tr>\n";
    }
    return text + "</table></div>\n";
}

std::string facts_of(const boost::json::array& rows) {
    std::string text;
    std::set<std::string> seen;
    for (const auto& value : rows) {
        const auto* run = value.as_object().if_contains("run");
        if (!run || !seen.insert(boost::json::serialize(*run)).second)
            continue;
        std::string line;
        for (const auto& [key, fact] : run->as_object()) {
            std::string shown =
                fact.is_string() ? std::string(fact.get_string()) : boost::json::serialize(fact);
            line += fmt::format(
                "{}{}: {}", line.empty() ? "" : "; ", std::string_view(key), escaped(shown));
        }
        text += fmt::format("<p class=soft>{}</p>\n", line);
    }
    return text;
}

}  // namespace

std::string page_for(const boost::json::array& rows, const std::vector<drawn_plot>& plots) {
    std::string text = fmt::format(
        "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
        "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
        "<title>corozk-bench</title>\n<style>{}</style>\n</head>\n<body>\n"
        "<h1>corozk-bench</h1>\n<p>Medians over the repetitions. Ratios mean more than times: "
        "everything of a row, its floor included, was measured in the same minutes on the same "
        "server.</p>\n",
        style);
    std::size_t number = 0;
    for (const drawn_plot& each : plots) {
        text += fmt::format("<figure>\n{}\n<figcaption>{}</figcaption>\n</figure>\n",
                            with_own_ids(each.svg, ++number),
                            escaped(each.about.caption));
    }
    std::vector<std::string> order;
    std::map<std::string, std::vector<const object*>> groups;
    for (const auto& value : rows) {
        const object& row = value.as_object();
        std::string workload = text_of(row, "workload");
        if (!groups.contains(workload))
            order.push_back(workload);
        groups[workload].push_back(&row);
    }
    for (const auto& workload : order)
        text += fmt::format("<h2>{}</h2>\n{}", escaped(workload), table_for(groups[workload]));
    text += "<h2>measured with</h2>\n" + facts_of(rows);
    return text + "</body>\n</html>\n";
}

}  // namespace corozk::bench
