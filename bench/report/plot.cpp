// SPDX-License-Identifier: Apache-2.0
#include "report/plot.hpp"

#include "arguments.hpp"
#include "report/text_file.hpp"
#include <corozk/testing/process_guard.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <unistd.h>

namespace corozk::bench {

namespace {

namespace fs = std::filesystem;

constexpr const char* gnuplot = "/usr/bin/gnuplot";
constexpr auto limit = std::chrono::seconds(60);

/// A colour that nothing else has: it becomes that of the text around the picture.
constexpr std::string_view ink = "#010203";

// Readable on white and on black.
struct look {
    std::string_view implementation;
    std::string_view colour;
    int dash;
    int point;
    double width;
};
constexpr std::array looks{
    look{"ours", "#3b82f6", 1, 7, 3},
    look{"curator", "#f08c00", 1, 5, 1.8},
    look{"kazoo", "#2f9e44", 1, 9, 1.8},
    look{"zookeeper", "#ae3ec9", 1, 13, 1.8},
    look{"c_client", "#868e96", 2, 6, 1.8},
    look{"textbook", "#12a594", 1, 11, 1.8},
    look{"herd", "#e5484d", 1, 4, 1.8},
};

const look& look_of(std::string_view implementation) {
    auto at = std::find_if(looks.begin(), looks.end(), [&](const look& l) {
        return l.implementation == implementation;
    });
    return at == looks.end() ? looks[4] : *at;
}

/// Inside of double quotes, where gnuplot knows escapes and markup.
std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\')
            result += '\\';
        if (c == '_' || c == '^' || c == '{' || c == '}' || c == '@' || c == '&')
            result += "\\\\";
        result += c;
    }
    return result + '"';
}

std::string_view format_of(plot_unit unit) {
    switch (unit) {
        case plot_unit::seconds:
            return "%.0s %cs";
        case plot_unit::bytes:
            return "%.0s %cB";
        case plot_unit::count:
            break;
    }
    return "%g";
}

std::string head(const plot& p, const fs::path& picture) {
    std::string text = fmt::format(
        "set encoding utf8\n"
        "set terminal svg size 820,470 dynamic enhanced font 'sans-serif,14' linewidth 1\n"
        "set output {}\n"
        "set title {} textcolor rgb '{}' font ',16'\n"
        "set border 3 linecolor rgb '{}'\n"
        "set grid xtics ytics linecolor rgb '#8a8f98' linewidth 0.4 dashtype 3\n"
        "set key outside right top Left reverse textcolor rgb '{}' samplen 2 spacing 1.25\n"
        "set xlabel {} textcolor rgb '{}'\n"
        "set ylabel {} textcolor rgb '{}'\n"
        "set logscale xy\n"
        "set format y \"{}\"\n"
        "set tics nomirror textcolor rgb '{}'\n"
        "set mxtics 1\nset mytics 10\n",
        quoted(picture.string()),
        quoted(p.title),
        ink,
        ink,
        ink,
        quoted(p.x_title),
        ink,
        quoted(p.y_title),
        ink,
        format_of(p.unit),
        ink);
    if (p.percentiles) {
        text +=
            "set xtics ('0 %%' 1, '50 %%' 2, '90 %%' 10, '99 %%' 100, '99.9 %%' 1000, "
            "'99.99 %%' 10000, '99.999 %%' 100000)\n";
    } else {
        text +=
            "set xtics ('1' 1, '10' 10, '100' 100, '1,000' 1000, '10,000' 10000, "
            "'100,000' 100000, '1,000,000' 1000000)\nset offsets graph 0.04, graph 0.06, graph "
            "0.04, graph 0.04\n";
    }
    return text;
}

/// Above everything else.
double height_of_failures(const plot& p) {
    double most = 0;
    for (const auto& s : p.series) {
        for (auto [x, y] : s.points)
            most = std::max(most, y);
    }
    return most * 2;
}

std::string script_for(const plot& p, const fs::path& picture) {
    std::string text = head(p, picture);
    std::string drawn;
    std::string comma;
    for (std::size_t i = 0; i < p.series.size(); ++i) {
        const plot_series& s = p.series[i];
        const look& l = look_of(s.implementation);
        text += fmt::format("$line{} << EOD\n", i);
        for (auto [x, y] : s.points)
            text += fmt::format("{:.9g} {:.9g}\n", x, y);
        text += "EOD\n";
        if (!s.points.empty()) {
            std::string drawn_as = "lines";
            if (!p.percentiles)
                drawn_as = fmt::format("linespoints pointtype {} pointsize 0.6", l.point);
            drawn += fmt::format(
                "{} $line{} using 1:2 with {} linecolor rgb '{}' dashtype {} linewidth {} title {}",
                comma,
                i,
                drawn_as,
                l.colour,
                l.dash,
                l.width,
                quoted(s.title));
            comma = ", \\\n    ";
        }
        if (s.failures.empty())
            continue;
        text += fmt::format("$failed{} << EOD\n", i);
        for (double x : s.failures)
            text += fmt::format("{:.9g} {:.9g}\n", x, height_of_failures(p));
        text += "EOD\n";
        drawn += fmt::format(
            "{} $failed{} using 1:2 with points linecolor rgb '{}' linewidth 2.5 "
            "pointtype 2 pointsize 1.1 title {}",
            comma,
            i,
            l.colour,
            quoted(s.title + " fails"));
        comma = ", \\\n    ";
    }
    return text + "plot" + drawn + "\n";
}

std::string content(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size())
        text.replace(at, what.size(), by);
}

std::string escaped(std::string text) {
    replace_all(text, "&", "&amp;");
    replace_all(text, "<", "&lt;");
    replace_all(text, ">", "&gt;");
    return text;
}

/// The reader's colours instead of ours; and a name.
std::string adapted(std::string svg, const plot& p) {
    auto begin = svg.find("<svg");
    if (begin == svg.npos)
        throw std::runtime_error("gnuplot made no picture");
    svg.erase(0, begin);
    for (std::string_view written :
         {ink, std::string_view("rgb(1,2,3)"), std::string_view("rgb(  1,   2,   3)")})
        replace_all(svg, written, "currentColor");
    replace_all(svg, "color=\"black\"", "color=\"inherit\"");
    replace_all(svg, " us<", " \u00b5s<");
    replace_all(svg, "<title>Gnuplot</title>", fmt::format("<title>{}</title>", escaped(p.title)));
    svg.insert(0, "<!-- SPDX-License-Identifier: Apache-2.0 -->\n");
    auto end = svg.find('>', svg.find("<svg"));
    svg.insert(end + 1,
               "\n<style>:root{color:#1f2328}@media(prefers-color-scheme:dark)"
               "{:root{color:#d1d7e0}}</style>");
    return svg;
}

}  // namespace

void require_gnuplot() {
    if (::access(gnuplot, X_OK) != 0)
        throw usage_error("--report needs gnuplot: Debian's package gnuplot-nox");
}

std::string draw(const plot& p, const fs::path& folder) {
    fs::path picture = fs::absolute(folder / (p.name + ".svg"));
    fs::path script = folder / (p.name + ".gp");
    fs::path log = folder / (p.name + ".log");
    write_text(script, script_for(p, picture));
    testing::process_options options;
    options.command = {gnuplot, script.string()};
    options.output = log;
    testing::process_guard process(options);
    if (!process.wait(limit) || process.exit_status().value_or(1) != 0)
        throw std::runtime_error(fmt::format("gnuplot failed: {}", content(log)));
    fs::remove(log);
    std::string svg = adapted(content(picture), p);
    write_text(picture, svg);
    return svg;
}

}  // namespace corozk::bench
