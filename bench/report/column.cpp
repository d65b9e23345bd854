// SPDX-License-Identifier: Apache-2.0
#include "report/column.hpp"

#include "report/html.hpp"
#include "report/row.hpp"
#include "table.hpp"

#include <boost/json/serialize.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace corozk::bench {

namespace {

using boost::json::object;

constexpr std::array columns{
    column{"waiters", "waiters", count_text},
    column{"sessions", "sessions", count_text},
    column{"processes", "processes", count_text},
    column{"threads", "threads", count_text},
    column{"queue", "queue_s", seconds_text},
    column{"drain", "drain_s", seconds_text},
    column{"hand-over p50", "handover_us.p50", microseconds_text},
    column{"p99", "handover_us.p99", microseconds_text},
    column{"acquire + release p50", "cycle_us.p50", microseconds_text},
    column{"latency p50", "latency_us.p50", microseconds_text},
    column{"time", "time_us", microseconds_text},
    column{"until it waits", "join_us", microseconds_text},
    column{"per second", "ops_per_s", count_text},
    column{"round trips", "round_trips", figure_text},
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
};

/// What is said once for the page, or drawn.
bool is_left_out(std::string_view key) {
    return key == "run" || key == "spread" || key == "distribution_us" || key == "workload";
}

struct lack {
    std::string what;  ///< in the table; empty if nothing is missing
    std::string why;   ///< below it, as it may be long
};

lack why_without_figures(const object& row) {
    if (auto failure = text_of(row, "failure"); !failure.empty())
        return {"fails", failure};
    if (auto reason = text_of(row, "not_judged"); !reason.empty())
        return {"not judged", reason};
    auto reason = text_of(row, "not_run");
    return reason.empty() ? lack() : lack{"not run", reason};
}

std::string row_title(const object& row, std::span<const std::string_view> labels) {
    std::string what = title_of(row);
    for (std::string_view key : labels) {
        std::string more = plain_words(text_of(row, key));
        if (!more.empty())
            what += (what.empty() ? "" : ", ") + more;
    }
    return what;
}

std::string cell(const object& row, const column& c) {
    if (c.text == nullptr)
        return text_of(row, c.key);
    if (!has_figure(row, c.key))
        return "";
    std::string text = c.text(figure_of(row, c.key));
    return text.ends_with(" us") ? text.substr(0, text.size() - 2) + "\u00b5s" : text;
}

/// The first columns say what was tried: one of them, or all words at the beginning.
std::size_t tried_columns(const std::vector<const column*>& used) {
    auto figure =
        std::find_if(used.begin(), used.end(), [](const column* c) { return c->text != nullptr; });
    auto words = static_cast<std::size_t>(figure - used.begin());
    return std::min(used.size(), std::max<std::size_t>(words, 1));
}

std::string tried_text(const object& row, const column& c) {
    return c.text == nullptr ? fmt::format(", {} {}", c.title, cell(row, c))
                             : fmt::format(", {} {}", cell(row, c), c.title);
}

std::string begin_table() {
    return "<div class=wide><table><tr><th></th>";
}

/// Keys of words and figures within an object, those of objects in it with a dot.
void add_keys(const object& row, const std::string& before, std::vector<std::string>& keys) {
    for (const auto& [name, value] : row) {
        std::string key = before + std::string(name);
        if (before.empty() && is_left_out(name))
            continue;
        if (value.is_object()) {
            add_keys(value.get_object(), key + ".", keys);
        } else if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
            keys.push_back(key);
        }
    }
}

std::string plain_cell(const boost::json::value* value) {
    if (!value || value->is_null())
        return "";
    if (value->is_double())
        return fmt::format("{}", value->get_double());
    return value->is_string() ? std::string(value->get_string()) : boost::json::serialize(*value);
}

}  // namespace

std::span<const column> common_columns() {
    return columns;
}

std::string table_of(const std::vector<const object*>& rows,
                     std::span<const std::string_view> labels,
                     std::span<const column> columns) {
    std::vector<const column*> used;
    for (const column& c : columns) {
        bool wanted = std::any_of(
            rows.begin(), rows.end(), [&c](const object* row) { return !cell(*row, c).empty(); });
        if (wanted)
            used.push_back(&c);
    }
    std::string text = begin_table();
    for (const column* c : used)
        text += fmt::format("<th>{}</th>", escaped(c->title));
    text += "</tr>\n";
    std::string reasons;
    for (const object* row : rows) {
        std::string title = row_title(*row, labels);
        text += fmt::format("<tr><td>{}</td>", escaped(title));
        auto [reason, why] = why_without_figures(*row);
        std::size_t shown = reason.empty() ? used.size() : tried_columns(used);
        if (!reason.empty()) {
            for (std::size_t i = 0; i < shown; ++i)
                title += tried_text(*row, *used[i]);
            reasons += fmt::format("<li>{}</li>\n", escaped(title + ": " + reason + ": " + why));
        }
        for (std::size_t i = 0; i < shown; ++i)
            text += fmt::format(
                "<td{}>{}</td>",
                used[i]->is_bad && figure_of(*row, used[i]->key) > 0 ? " class=bad" : "",
                escaped(cell(*row, *used[i])));
        if (!reason.empty())
            text += fmt::format("<td class=fails colspan={}>{}</td>",
                                std::max<std::size_t>(used.size() - shown, 1),
                                escaped(reason));
        text += "</tr>\n";
    }
    text += "</table></div>\n";
    return reasons.empty() ? text : text + "<ul class=fails>\n" + reasons + "</ul>\n";
}

std::string plain_table_of(const std::vector<const object*>& rows) {
    std::vector<std::string> keys;
    for (const object* row : rows)
        add_keys(*row, "", keys);
    std::string text = begin_table();
    for (const auto& key : keys)
        text += fmt::format("<th>{}</th>", escaped(key));
    text += "</tr>\n";
    for (std::size_t i = 0; i < rows.size(); ++i) {
        text += fmt::format("<tr><td>{}</td>", i + 1);
        for (const auto& key : keys)
            text += fmt::format("<td>{}</td>", escaped(plain_cell(value_of(*rows[i], key))));
        text += "</tr>\n";
    }
    return text + "</table></div>\n";
}

}  // namespace corozk::bench
