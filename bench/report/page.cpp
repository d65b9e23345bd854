// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

#include "report/column.hpp"
#include "report/html.hpp"
#include "report/row.hpp"
#include "report/section.hpp"

#include <boost/json/serialize.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

namespace corozk::bench {

namespace {

using boost::json::object;

constexpr std::string_view title = "<title>corozk-bench</title>";

constexpr std::string_view style = R"(
:root { color-scheme: light dark; color: #1f2328; --line: #d0d7de; --soft: #59636e;
        --paper: #ffffff; --bad: #b42318;
        --link: #0b5cc4; }
@media (prefers-color-scheme: dark) {
  :root { color: #d1d7e0; --line: #3d444d; --soft: #9198a1; --paper: #151b23; --bad: #ff8078;
          --link: #6cb0ff; }
}
body { font: 16px/1.5 system-ui, sans-serif; background: var(--paper); color: inherit;
       margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
figure { margin: 1.5rem 0; } figure svg { width: 100%; height: auto; }
figcaption, .soft { color: var(--soft); font-size: .9rem; }
.soft { overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
td, th { border-bottom: 1px solid var(--line); padding: .25rem .6rem; text-align: right;
         white-space: nowrap; }
th { white-space: normal; vertical-align: bottom; }
td:first-child, th:first-child { text-align: left; }
td.fails { color: var(--bad); text-align: left; white-space: normal; }
ul.fails { color: var(--bad); font-size: .85rem; overflow-wrap: anywhere; }
details { margin-top: 1rem; }
td.bad { color: var(--bad); font-weight: 600; }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; }
a { color: var(--link); } dt { font-weight: 600; } dd { margin: 0 0 .4rem 1.5rem; }
)";

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

/// The names that the page uses everywhere.
constexpr std::string_view words = R"(<h2 id=words>Glossary</h2>
<dl>
<dt>p50, p99</dt><dd>half of all take at most this long; 99 of 100 do</dd>
<dt>session</dt><dd>a client's state at the servers, across connections; several waiters may share one</dd>
<dt>hand-over</dt><dd>from right before a release until the next waiter has it</dd>
<dt>event, notification</dt><dd>the server tells a session that a node has changed</dd>
<dt>floor</dt><dd>the minimum that the server and the C client need for the same, measured in the same
minutes; &ldquo;2 x&rdquo; of it is twice as long</dd>
<dt>bare C client, bare C loop</dt><dd>ZooKeeper's C client without any library: the floor</dd>
<dt>textbook recipe</dt><dd>as ZooKeeper's recipes page describes it</dd>
<dt>herd</dt><dd>all waiters wake up at each release, although only one can proceed</dd>
</dl>
)";

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
                "{}{}: {}", line.empty() ? "" : "; ", escaped(std::string(key)), escaped(shown));
        }
        text += fmt::format("<p class=soft>{}</p>\n", line);
    }
    return text;
}

struct chapter {
    std::string workload;
    const section* about = nullptr;  ///< null: nothing is known of such rows
    std::vector<const object*> rows;

    std::string heading() const {
        if (about != nullptr)
            return std::string(about->heading);
        return workload.empty() ? "other figures" : workload;
    }
};

/// In the order of their first rows.
std::vector<chapter> chapters_of(const boost::json::array& rows) {
    std::vector<chapter> all;
    for (const auto& value : rows) {
        const object& row = value.as_object();
        std::string workload = text_of(row, "workload");
        auto at = std::find_if(
            all.begin(), all.end(), [&](const chapter& c) { return c.workload == workload; });
        if (at == all.end())
            at = all.insert(at, {workload, find_section(workload), {}});
        at->rows.push_back(&row);
    }
    return all;
}

std::string contents_of(const std::vector<chapter>& chapters) {
    std::string text = "<nav>";
    for (std::size_t i = 0; i < chapters.size(); ++i)
        text += fmt::format("<a href=#s{}>{}</a>\n", i + 1, escaped(chapters[i].heading()));
    return text + "<a href=#words>Glossary</a>\n<a href=#run>Measured with</a></nav>\n";
}

std::string about_text(const section& s) {
    return fmt::format("<p><strong>{}</strong> {} <em>What to read off:</em> {}</p>\n",
                       escaped(s.question),
                       escaped(s.method),
                       escaped(s.reading));
}

std::string table_for(const chapter& c) {
    if (c.about == nullptr)
        return plain_table_of(c.rows);
    std::span<const column> columns = c.about->columns;
    return table_of(c.rows, c.about->labels, columns.empty() ? common_columns() : columns);
}

}  // namespace

bool is_page(const std::string& text) {
    return text.find(title) != std::string::npos;
}

std::string page_for(const boost::json::array& rows, const std::vector<drawn_plot>& plots) {
    std::string text = fmt::format(
        "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
        "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
        "{}\n<style>{}</style>\n</head>\n<body>\n"
        "<h1>corozk-bench</h1>\n<p>Medians over the repetitions. Ratios mean more than times: "
        "everything of a row, its floor included, was measured in the same minutes on the same "
        "server.</p>\n",
        title,
        style);
    auto chapters = chapters_of(rows);
    text += contents_of(chapters);
    std::size_t number = 0;
    for (std::size_t i = 0; i < chapters.size(); ++i) {
        const chapter& c = chapters[i];
        text += fmt::format("<section id=s{}>\n<h2>{}</h2>\n", i + 1, escaped(c.heading()));
        if (c.about != nullptr)
            text += about_text(*c.about);
        std::string distributions;
        for (const drawn_plot& each : plots) {
            if (each.about.workload != c.workload)
                continue;
            auto& to = each.about.x_axis == plot_axis::share ? distributions : text;
            to += fmt::format("<figure>\n{}\n<figcaption>{}</figcaption>\n</figure>\n",
                              with_own_ids(each.svg, ++number),
                              escaped(each.about.caption));
        }
        text += table_for(c);
        if (!distributions.empty())
            text += "<details><summary>Distributions of the times</summary>\n" + distributions +
                    "</details>\n";
        text += "</section>\n";
    }
    text += std::string(words) + "<h2 id=run>Measured with</h2>\n" + facts_of(rows);
    return text + "</body>\n</html>\n";
}

}  // namespace corozk::bench
