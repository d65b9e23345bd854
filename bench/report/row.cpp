// SPDX-License-Identifier: Apache-2.0
#include "report/row.hpp"

#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace corozk::bench {

using boost::json::object;

const boost::json::value* value_of(const object& row, std::string_view key) {
    auto dot = key.find('.');
    const auto* value = row.if_contains(key.substr(0, dot));
    if (!value || dot == key.npos)
        return value;
    return value->is_object() ? value_of(value->get_object(), key.substr(dot + 1)) : nullptr;
}

double figure_of(const object& row, std::string_view key) {
    return has_figure(row, key) ? value_of(row, key)->to_number<double>() : 0;
}

bool has_figure(const object& row, std::string_view key) {
    const auto* value = value_of(row, key);
    return value && value->is_number();
}

std::string text_of(const object& row, std::string_view key) {
    const auto* value = value_of(row, key);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string extent_of(const object& row) {
    std::string text;
    auto add = [&](std::string_view key, std::string_view what) {
        if (double number = figure_of(row, key); number > 1)
            text += fmt::format(fmt::runtime(what), count_text(number));
    };
    add("limit", ", limit {}");
    add("locks", ", {} locks");
    // Each contender that is judged is one.
    if (text_of(row, "workload") != "judge")
        add("processes", ", {} processes");
    // What a prediction is for.
    if (double hold_us = figure_of(row, "hold_us"); hold_us > 0)
        text += fmt::format(", held for {}", microseconds_text(hold_us));
    if (double share = figure_of(row, "other_load"); share > 0)
        text += fmt::format(", {:.0f} % used by others", 100 * share);
    return text + servers_of(row);
}

std::string servers_of(const object& row) {
    std::string text;
    // A prediction is for so many, whatever it was measured on.
    bool predicted = text_of(row, "workload") == "sizing";
    if (double servers = figure_of(row, predicted ? "servers" : "run.server_count"); servers > 1)
        text = fmt::format(", {} servers", count_text(servers));
    return text_of(row, "run.data") == "disk" ? text + ", data on disk" : text;
}

bool has_failed(const object& row) {
    return !text_of(row, "failure").empty();
}

std::string title_of(const object& row) {
    if (std::string title = text_of(row, "title"); !title.empty())
        return title;
    static const std::map<std::string, std::string> names{
        {"ours", "corozk"},
        {"textbook", "textbook recipe"},
        {"herd", "herd"},
        {"curator", "Curator"},
        {"kazoo", "Kazoo"},
        {"zookeeper", "ZooKeeper's recipes"},
        {"etcd", "etcd"},
        {"redis", "Redis"},
        {"c_client", "bare C loop"},
        {"c_client_create_delete", "bare C client, create + delete"},
        {"client_create_delete", "corozk's client, create + delete"}};
    std::string implementation = text_of(row, "implementation");
    auto at = names.find(implementation);
    return at == names.end() ? implementation : at->second;
}

std::string to_file_name(std::string_view text) {
    std::string name;
    for (char c : text) {
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (plain) {
            name += c;
        } else if (c != ',' && !name.empty() && name.back() != '-') {
            name += '-';
        }
    }
    return name;
}

std::string unique(const std::string& name, std::set<std::string>& taken) {
    constexpr std::size_t most = 120;  // of 255 that a file system takes, with an ending
    const std::string begin = name.substr(0, most);
    std::string free = begin;
    for (std::size_t i = 2; !taken.insert(free).second; ++i)
        free = fmt::format("{}-{}", begin, i);
    return free;
}

std::string plain_words(std::string text) {
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

}  // namespace corozk::bench
