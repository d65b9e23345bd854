// SPDX-License-Identifier: Apache-2.0
#include "report/plot.hpp"

#include "arguments.hpp"
#include "report/html.hpp"
#include "table.hpp"
#include "text_file.hpp"
#include <corozk/testing/process_guard.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string_view>
#include <unistd.h>
#include <vector>

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
    look{"reference", "#868e96", 2, 6, 1.8},
    look{"textbook", "#12a594", 1, 11, 1.8},
    look{"herd", "#e5484d", 1, 4, 1.8},
    look{"etcd", "#ae3ec9", 1, 13, 1.8},
    look{"redis", "#e5484d", 1, 4, 1.8},
    look{"acquire", "#12a594", 1, 11, 1.8},
    look{"set", "#868e96", 1, 6, 1.8},
};

constexpr std::array other_looks{
    look{"", "#d6409f", 1, 7, 1.8},
    look{"", "#97692e", 1, 5, 1.8},
    look{"", "#7ca300", 1, 9, 1.8},
    look{"", "#7c5cff", 1, 13, 1.8},
    look{"", "#0ea5c6", 1, 11, 1.8},
    look{"", "#c9a227", 1, 4, 1.8},
};

const look* find_look(std::string_view implementation) {
    auto at = std::find_if(looks.begin(), looks.end(), [&](const look& l) {
        return l.implementation == implementation;
    });
    return at == looks.end() ? nullptr : &*at;
}

/// Those without a look of their own have others in turn.
const look& look_of(const plot& p, std::string_view implementation) {
    if (const look* own = find_look(implementation))
        return *own;
    std::vector<std::string_view> unknown;
    for (const auto& s : p.series) {
        if (s.implementation == implementation)
            break;
        bool is_new = std::find(unknown.begin(), unknown.end(), s.implementation) == unknown.end();
        if (is_new && find_look(s.implementation) == nullptr)
            unknown.push_back(s.implementation);
    }
    return other_looks[unknown.size() % other_looks.size()];
}

/// Between double quotes, where gnuplot knows escapes, and runs what is between backquotes.
std::string literal(const std::string& text) {
    std::string result = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\')
            result += '\\';
        result += c == '\n'  ? std::string("\\n")
                  : c == '`' ? std::string("\\140")
                             : std::string(1, c);
    }
    return result + '"';
}

/// What is shown, where it knows markup as well.
std::string label(const std::string& text) {
    std::string result;
    for (char c : text) {
        if (c == '\\' || c == '_' || c == '^' || c == '{' || c == '}' || c == '@' || c == '&')
            result += '\\';
        result += c;
    }
    return literal(result);
}

std::string_view format_of(plot_unit unit) {
    switch (unit) {
        case plot_unit::seconds: return "%.0s %cs";
        case plot_unit::bytes: return "%.0s %cB";
        case plot_unit::percent: return "%g %%";
        case plot_unit::count: break;
    }
    return "%.10g";
}

double bar_width(const plot& p) {
    return 0.8 / static_cast<double>(std::max<std::size_t>(p.series.size(), 1));
}

/// Wider where the names beside it are long.
std::size_t width_of(const plot& p) {
    std::size_t longest = 25;
    for (const auto& s : p.series)
        longest = std::max(longest, s.title.size());
    return p.x_axis == plot_axis::category ? 820 : 820 + 7 * (longest - 25);
}

/// Of the text below bars, and of the names below that, two in a line.
std::ptrdiff_t lines_below(const plot& p) {
    std::ptrdiff_t most = 0;
    for (const auto& text : p.categories)
        most = std::max(most, 1 + std::count(text.begin(), text.end(), '\n'));
    return most + 2 + (static_cast<std::ptrdiff_t>(p.series.size()) + 1) * 5 / 8;
}

std::string_view scales_of(const plot& p) {
    bool x = p.x_axis == plot_axis::number || p.x_axis == plot_axis::share;
    if (p.from_zero)
        return x ? "set logscale x\nset yrange [0:*]\n" : "set yrange [0:*]\n";
    return x ? "set logscale xy\n" : "set logscale y\n";
}

std::string tics_at_points(const plot& p) {
    std::set<double> numbers;
    for (const auto& s : p.series) {
        for (auto [x, y] : s.points)
            numbers.insert(x);
    }
    std::string tics;
    for (double x : numbers)
        tics += fmt::format("{}'{}' {}", tics.empty() ? "" : ", ", count_text(x), x);
    return fmt::format(
        "set xtics ({})\nset xrange [{}:{}]\nset offsets 0, 0, graph 0.04, graph "
        "0.04\n",
        tics,
        *numbers.begin() * 0.9,
        *numbers.rbegin() * 1.1);
}

std::string x_axis_of(const plot& p) {
    switch (p.x_axis) {
        case plot_axis::share:
            return "set xtics ('0 %%' 1, '50 %%' 2, '90 %%' 10, '99 %%' 100, '99.9 %%' 1000, "
                   "'99.99 %%' 10000, '99.999 %%' 100000)\n";
        case plot_axis::percent:
            return "set format x '%g %%'\nset xrange [-2:102]\nset offsets 0, 0, graph 0.04, "
                   "graph 0.04\n";
        case plot_axis::category: {
            std::string tics;
            for (std::size_t i = 0; i < p.categories.size(); ++i)
                tics += fmt::format("{}{} {}", i == 0 ? "" : ", ", label(p.categories[i]), i);
            return fmt::format(
                "set xtics ({}) scale 0 font ',11'\nset bmargin {}\nset xrange [-0.6:{}]\nunset "
                "grid\n"
                "set grid ytics linecolor rgb '#8a8f98' linewidth 0.4 dashtype 3\n"
                "set boxwidth {:.4f}\nset offsets 0, 0, graph 0.06, 0\n",
                tics,
                lines_below(p),
                static_cast<double>(p.categories.size()) - 0.4,
                bar_width(p));
        }
        case plot_axis::number:
            if (p.tics_at_points)
                return tics_at_points(p);
            break;
    }
    return "set xtics ('1' 1, '10' 10, '100' 100, '1,000' 1000, '10,000' 10000, "
           "'100,000' 100000, '1,000,000' 1000000)\nset offsets graph 0.04, graph 0.06, graph "
           "0.04, graph 0.04\n";
}

std::string head(const plot& p, const fs::path& picture) {
    std::string text = fmt::format(
        "set encoding utf8\n"
        "set terminal svg size {},470 dynamic enhanced font 'sans-serif,14' linewidth 1\n"
        "set output {}\n"
        // In the middle of the picture: there is more room than above the plot alone.
        "set label 1 {} at screen 0.5, screen 0.95 center textcolor rgb '{}' font ',15'\n"
        "set tmargin 3\n"
        "set border 3 linecolor rgb '{}'\n"
        "set grid xtics ytics linecolor rgb '#8a8f98' linewidth 0.4 dashtype 3\n"
        "set key outside {} Left reverse textcolor rgb '{}' samplen 2 spacing 1.25\n"
        "set xlabel {} textcolor rgb '{}'\n"
        "set ylabel {} textcolor rgb '{}'\n"
        "{}"
        "set format y \"{}\"\n"
        "set tics nomirror textcolor rgb '{}'\n"
        "set mxtics 1\nset mytics 10\n",
        width_of(p),
        literal(picture.string()),
        label(p.title),
        ink,
        ink,
        p.x_axis == plot_axis::category ? "bottom center horizontal" : "right top",
        ink,
        label(p.x_title),
        ink,
        label(p.y_title),
        ink,
        scales_of(p),
        format_of(p.unit),
        ink);
    return text + x_axis_of(p);
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

/// Which of gnuplot's styles; the bars of a category are beside each other.
std::string drawn_as(const plot& p, std::size_t number) {
    const plot_series& s = p.series[number];
    const look& l = look_of(p, s.implementation);
    if (p.x_axis == plot_axis::category) {
        double middle = (static_cast<double>(p.series.size()) - 1) / 2;
        return fmt::format("$line{} using ($1{:+.4f}):2 with boxes fillstyle solid {} noborder",
                           number,
                           (static_cast<double>(number) - middle) * bar_width(p),
                           s.secondary ? 0.45 : 0.9);
    }
    std::string points = p.x_axis == plot_axis::share
                             ? "lines"
                             : fmt::format("linespoints pointtype {} pointsize 0.6", l.point);
    return fmt::format("$line{} using 1:2 with {} dashtype {} linewidth {}",
                       number,
                       points,
                       s.secondary ? 2 : l.dash,
                       s.secondary ? 1.4 : l.width);
}

std::string script_for(const plot& p, const fs::path& picture) {
    std::string text = head(p, picture);
    std::string drawn;
    std::string comma;
    for (std::size_t i = 0; i < p.series.size(); ++i) {
        const plot_series& s = p.series[i];
        const look& l = look_of(p, s.implementation);
        text += fmt::format("$line{} << EOD\n", i);
        for (auto [x, y] : s.points)
            text += fmt::format("{:.9g} {:.9g}\n", x, y);
        text += "EOD\n";
        if (!s.points.empty()) {
            drawn += fmt::format("{} {} linecolor rgb '{}' title {}",
                                 comma,
                                 drawn_as(p, i),
                                 l.colour,
                                 label(s.title));
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
            label(s.title + " fails"));
        comma = ", \\\n    ";
    }
    return text + "plot" + drawn + "\n";
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size())
        text.replace(at, what.size(), by);
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
        throw std::runtime_error(fmt::format("gnuplot failed: {}", read_text(log)));
    fs::remove(log);
    std::string svg = adapted(read_text(picture), p);
    write_text(picture, svg);
    return svg;
}

}  // namespace corozk::bench
