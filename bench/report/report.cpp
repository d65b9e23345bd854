// SPDX-License-Identifier: Apache-2.0
#include "report/report.hpp"

#include "arguments.hpp"
#include "histogram.hpp"
#include "report/page.hpp"
#include "report/plot.hpp"
#include "report/plots.hpp"
#include "report/row.hpp"
#include "text_file.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/stream_parser.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <ios>
#include <iterator>
#include <set>
#include <stdexcept>
#include <system_error>

namespace corozk::bench {

namespace {

namespace fs = std::filesystem;

/// @return whether it is new
bool make_folder(const fs::path& folder) {
    std::error_code problem;
    bool made = fs::create_directories(folder, problem);
    if (problem)
        throw usage_error(
            fmt::format("--report: cannot make {}: {}", folder.string(), problem.message()));
    return made;
}

/// What a report replaces: what was drawn before need not be drawn this time.
std::vector<fs::path> drawn_before(const fs::path& folder) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder)) {
        auto ending = entry.path().extension();
        if (ending == ".svg" || ending == ".gp" || ending == ".hgrm")
            found.push_back(entry.path());
    }
    return found;
}

/// Throws unless all that a report would replace there is of an earlier report.
void require_own(const fs::path& folder) {
    const fs::path page = folder / "index.html";
    const bool own = fs::is_regular_file(page) && is_page(read_text(page));
    if (own || (!fs::exists(page) && drawn_before(folder).empty()))
        return;
    throw usage_error(fmt::format(
        "--report: {} has files of something else, which would be replaced: name a new folder",
        folder.string()));
}

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
    throw usage_error(fmt::format("--from: {} was not written by --json: {}", name, why));
}

/// What the page relies on; everything else in a row may be missing, or anything.
std::string fault_of(const boost::json::value& value) {
    if (!value.is_object())
        return "is not an object";
    const auto& row = value.get_object();
    if (const auto* run = row.if_contains("run"); run && !run->is_object())
        return "has a 'run' that is not an object";
    const auto* distribution = row.if_contains("distribution_us");
    if (!distribution)
        return "";
    try {
        to_hgrm(distribution->as_object());
    } catch (const std::exception&) {
        return "has a 'distribution_us' that is not a distribution";
    }
    return "";
}

std::string content_of(const std::string& name) {
    std::ifstream stream(name);
    if (!stream)
        throw usage_error(fmt::format("--from: cannot read {}: {}", name, std::strerror(errno)));
    try {
        return {std::istreambuf_iterator<char>(stream), {}};
    } catch (const std::ios_base::failure& e) {  // such as a folder
        throw usage_error(fmt::format("--from: cannot read {}: {}", name, e.code().message()));
    }
}

boost::json::array parse_rows(const std::string& name, const std::string& text) {
    boost::json::stream_parser parser;
    boost::system::error_code problem;
    std::size_t read = parser.write_some(text, problem);
    if (!problem && read == text.size())
        parser.finish(problem);
    if (problem || read < text.size())
        refuse(
            name,
            fmt::format(
                "no JSON from byte {} on{}", read, problem ? " (" + problem.message() + ")" : ""));
    auto value = parser.release();
    if (!value.is_array())
        refuse(name, "not an array of rows");
    auto& rows = value.get_array();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (std::string fault = fault_of(rows[i]); !fault.empty())
            refuse(name, fmt::format("row {} {}", i + 1, fault));
    }
    return rows;
}

}  // namespace

void prepare_report(const fs::path& folder) {
    require_gnuplot();
    bool made = make_folder(folder);
    require_own(folder);
    fs::path probe = folder / "rows.json.new";
    if (!std::ofstream(probe))
        throw usage_error(fmt::format(
            "--report: cannot write into {}: {}", folder.string(), std::strerror(errno)));
    fs::remove(probe);
    // Made again by `write_report`: if there is nothing to report, there is no folder.
    if (made)
        fs::remove(folder);
}

std::string write_report(const fs::path& folder, const boost::json::array& rows) {
    make_folder(folder);
    for (const fs::path& old : drawn_before(folder))
        fs::remove(old);
    // They have taken long to measure; everything else can be made from them.
    write_text(folder / "rows.json", boost::json::serialize(rows) + "\n");
    std::vector<drawn_plot> drawn;
    // If a picture fails, there is a page that says the rest, and whose folder this is.
    write_text(folder / "index.html", page_for(rows, drawn));
    for (const plot& p : plots_for(rows))
        drawn.push_back({p, draw(p, folder)});
    std::size_t distributions = 0;
    std::set<std::string> names;
    for (const auto& value : rows) {
        const auto& row = value.as_object();
        if (const auto* distribution = row.if_contains("distribution_us")) {
            write_text(folder / (unique(name_of_distribution(row), names) + ".hgrm"),
                       to_hgrm(distribution->as_object()));
            ++distributions;
        }
    }
    write_text(folder / "index.html", page_for(rows, drawn));
    return fmt::format("report: {} ({} pictures, {} distributions as .hgrm)\n",
                       (folder / "index.html").string(),
                       drawn.size(),
                       distributions);
}

boost::json::array read_rows(const std::vector<std::string>& files) {
    boost::json::array all;
    for (const auto& name : files) {
        for (auto& row : parse_rows(name, content_of(name)))
            all.push_back(std::move(row));
    }
    if (all.empty())
        throw usage_error(fmt::format("--from: there are no rows in {}", fmt::join(files, ", ")));
    return all;
}

}  // namespace corozk::bench
