// SPDX-License-Identifier: Apache-2.0
#include "report/report.hpp"

#include "arguments.hpp"
#include "histogram.hpp"
#include "report/page.hpp"
#include "report/plot.hpp"
#include "report/plots.hpp"
#include "report/text_file.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace corozk::bench {

namespace {

namespace fs = std::filesystem;

/// What was drawn before need not be drawn this time.
void remove_old(const fs::path& folder) {
    for (const auto& entry : fs::directory_iterator(folder)) {
        auto ending = entry.path().extension();
        if (ending == ".svg" || ending == ".gp" || ending == ".hgrm")
            fs::remove(entry.path());
    }
}

}  // namespace

std::string write_report(const fs::path& folder, const boost::json::array& rows) {
    fs::create_directories(folder);
    remove_old(folder);
    std::vector<drawn_plot> drawn;
    for (const plot& p : plots_for(rows))
        drawn.push_back({p, draw(p, folder)});
    std::size_t distributions = 0;
    for (const auto& value : rows) {
        const auto& row = value.as_object();
        if (const auto* distribution = row.if_contains("distribution_us")) {
            write_text(folder / (name_of_distribution(row) + ".hgrm"),
                       to_hgrm(distribution->as_object()));
            ++distributions;
        }
    }
    write_text(folder / "rows.json", boost::json::serialize(rows) + "\n");
    write_text(folder / "index.html", page_for(rows, drawn));
    return fmt::format("report: {} ({} pictures, {} distributions as .hgrm)\n",
                       (folder / "index.html").string(),
                       drawn.size(),
                       distributions);
}

boost::json::array read_rows(const std::vector<std::string>& files) {
    boost::json::array all;
    for (const auto& name : files) {
        std::ifstream stream(name);
        if (!stream)
            throw usage_error(fmt::format("--from: cannot read {}", name));
        std::string text{std::istreambuf_iterator<char>(stream), {}};
        boost::system::error_code problem;
        auto value = boost::json::parse(text, problem);
        if (problem || !value.is_array())
            throw usage_error(fmt::format("--from: {} was not written by --json", name));
        for (auto& row : value.get_array()) {
            if (!row.is_object())
                throw usage_error(fmt::format("--from: {} was not written by --json", name));
            all.push_back(std::move(row));
        }
    }
    return all;
}

}  // namespace corozk::bench
