// SPDX-License-Identifier: Apache-2.0
#include "paper/growth_table.hpp"

#include <fmt/format.h>

namespace corozk::bench {

namespace {

/// "queue, 5 sessions: put and take" without what grows.
std::string subject_of(const comparison_part& part, const result& row) {
    std::string text(row.text("recipe"));
    return part.operation.empty() ? text : text + ", " + part.operation;
}

}  // namespace

growth_table::growth_table()
    : table_({"",
              "",
              "p99",
              "of the fewest clients'",
              "slower than corozk",
              "/ floor",
              "requests",
              "events",
              "bytes"}) {}

void growth_table::add(const comparison_part& part,
                       std::size_t clients,
                       std::size_t index,
                       std::vector<compared>& entries) {
    table_.add({part.title});
    for (compared& e : entries) {
        result& row = e.rows[index];
        if (!e.failure.empty()) {
            table_.add({"  " + e.title, "fails"});
            remarks_ += fmt::format("{}: {} fails: {}\n", part.title, e.title, e.failure);
            continue;
        }
        double figure = row.median(part.key);
        auto [at, is_first] = spans_.try_emplace({subject_of(part, row), e.title});
        span& s = at->second;
        if (is_first) {
            order_.push_back(at->first);
            s.fewest = clients;
            s.figure_of_fewest = figure;
            s.slower_with_fewest = row.median("times_corozk");
        }
        s.most = clients;
        s.slower_with_most = row.median("times_corozk");
        row.add("growth", figure / s.figure_of_fewest);
        auto per = [&](const char* what) { return fmt::format("{}_per_{}", what, part.per); };
        bool is_peer =
            e.implementation != comparison_run::ours && e.implementation != comparison_run::bare;
        table_.add(
            {"  " + e.title,
             figure_with_spread(part, row),
             part.key_p99.empty() ? "" : cell(row, part.key_p99, microseconds_text),
             clients > s.fewest ? ratio_text(row.median("growth")) : "",
             is_peer ? cell(row, "times_corozk", ratio_text) : "",
             e.implementation == comparison_run::bare ? "" : cell(row, "floor_ratio", ratio_text),
             cell(row, per("requests"), figure_text),
             cell(row, per("notifications"), figure_text),
             cell(row, per("bytes"), bytes_text)});
    }
}

std::string growth_table::str() const {
    std::string text = table_.str() + "\n";
    for (const key& k : order_) {
        const span& s = spans_.at(k);
        const auto& [subject, title] = k;
        if (s.slower_with_fewest == 0 || title == "corozk" || title == "bare C loop")
            continue;
        text += fmt::format("{}: corozk is {} as quick as {} with {}",
                            subject,
                            ratio_text(s.slower_with_fewest),
                            title,
                            counted(s.fewest, "client"));
        if (s.most > s.fewest)
            text += fmt::format(
                ", {} with {}", ratio_text(s.slower_with_most), counted(s.most, "client"));
        text += "\n";
    }
    return text + remarks_;
}

}  // namespace corozk::bench
