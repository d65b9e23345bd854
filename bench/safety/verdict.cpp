// SPDX-License-Identifier: Apache-2.0
#include "safety/verdict.hpp"

#include "table.hpp"

#include <fmt/format.h>

namespace corozk::bench {

namespace {

/// Of a row of a clock's; empty if it is good.
std::string problem_with_clock(const result& row, const fault& f, double stops) {
    bool monotonic = f.by == fault_means::all_clocks;
    if (row.least("wall_jumps") < stops || row.least("monotonic_jumps") < (monotonic ? stops : 0))
        return "the clock has not jumped: this has shown nothing";
    if (monotonic)
        return {};
    if (row.most("monotonic_jumps") > 0)
        return "the monotonic clock has jumped as well";
    double changed = row.most("overlaps") + row.most("refused") + row.most("unknown");
    return changed > 0 || row.has("notice_ms") ? "the wall clock's jump made a difference" : "";
}

}  // namespace

std::vector<std::string> problems_of(const result& row,
                                     const protection& p,
                                     const fault& f,
                                     std::size_t stops) {
    std::vector<std::string> problems;
    double lost = row.most("lost");
    double ghosts = row.most("ghosts");
    if (!f.loses(p) && lost + ghosts > 0) {
        problems.push_back(fmt::format(
            "{} updates lost, {} written although refused", count_text(lost), count_text(ghosts)));
    }
    double overlaps = row.most("overlaps");
    if (f.kind.empty() && overlaps > 0)
        problems.push_back(fmt::format("{} updates overlap without a fault", count_text(overlaps)));
    // What nothing has happened to must have been able to write.
    double least = (row.number("processes") - static_cast<double>(stops)) * row.number("updates");
    double added = row.least("added");
    if (added < least) {
        problems.push_back(
            fmt::format("only {} updates added, but processes without a fault alone make {}",
                        count_text(added),
                        count_text(least)));
    }
    if (f.kind == "clock") {
        auto problem = problem_with_clock(row, f, static_cast<double>(stops));
        if (!problem.empty())
            problems.push_back(std::move(problem));
    }
    return problems;
}

}  // namespace corozk::bench
