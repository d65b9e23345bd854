// SPDX-License-Identifier: Apache-2.0
#include "watch/server_look.hpp"

#include <charconv>
#include <cstdlib>

namespace corozk::bench {

namespace {

constexpr std::string_view total_label = "Total watches:";

template <class Function>
void for_each_line(std::string_view text, Function handle) {
    while (!text.empty()) {
        auto end = text.find('\n');
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        handle(line);
        text = end == text.npos ? std::string_view() : text.substr(end + 1);
    }
}

template <class Number>
Number number_in(std::string_view text, int base = 10) {
    if (base == 16 && text.starts_with("0x"))
        text.remove_prefix(2);
    Number value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, base);
    return value;
}

/// What stands behind `name=` up to a comma or the end.
std::string_view field(std::string_view line, std::string_view name) {
    for (std::size_t at = 0; (at = line.find(name, at)) != line.npos; at += name.size()) {
        bool begins = at > 0 && (line[at - 1] == ',' || line[at - 1] == '(');
        if (!begins)
            continue;
        std::string_view rest = line.substr(at + name.size());
        return rest.substr(0, rest.find_first_of(",)"));
    }
    return {};
}

}  // namespace

double server_look::counter(std::string_view name) const {
    auto at = counters.find(name);
    return at == counters.end() ? 0 : at->second;
}

server_look joined(const std::deque<server_look>& looks, const std::set<std::string_view>& paths) {
    server_look all = looks.back();
    for (const server_look& earlier : looks) {
        for (const auto& [path, watchers] : earlier.watchers) {
            if (paths.contains(path))
                all.watchers[path].insert(watchers.begin(), watchers.end());
        }
    }
    return all;
}

bool has_restarted(const server_look& before, const server_look& after) {
    auto fell = [&](std::string_view name) {
        return after.counters.contains(name) && after.counter(name) < before.counter(name);
    };
    // A restarted server may have counted more in the meantime than it had before.
    const std::chrono::duration<double, std::milli> between = after.asked - before.asked;
    const bool younger =
        after.counters.contains("zk_uptime") && after.counter("zk_uptime") < between.count();
    return younger || fell("zk_uptime") || fell("zk_packets_received");
}

bool is_summary(std::string_view wchs) {
    return wchs.find(total_label) != wchs.npos;
}

std::uint64_t total_watches(std::string_view wchs) {
    auto at = wchs.find(total_label);
    return at == wchs.npos ? 0 : number_in<std::uint64_t>(wchs.substr(at + total_label.size()));
}

void parse_mntr(std::string_view text, server_look& l) {
    for_each_line(text, [&l](std::string_view line) {
        auto tab = line.find('\t');
        if (tab == line.npos)
            return;
        std::string value(line.substr(tab + 1));
        char* end = nullptr;
        double number = std::strtod(value.c_str(), &end);
        if (end != value.c_str())
            l.counters[std::string(line.substr(0, tab))] = number;
    });
}

void parse_wchp(std::string_view text, server_look& l) {
    std::set<session_number>* watchers = nullptr;
    for_each_line(text, [&](std::string_view line) {
        if (line.starts_with('/')) {
            watchers = &l.watchers[std::string(line)];
        } else if (watchers && line.starts_with('\t')) {
            watchers->insert(number_in<session_number>(line.substr(1), 16));
        }
    });
}

void parse_cons(std::string_view text, server_look& l) {
    l.knows_sessions = l.knows_sessions || !text.empty();
    for_each_line(text, [&l](std::string_view line) {
        auto session = field(line, "sid=");
        if (session.empty())
            return;  // whoever asks
        session_counts counts;
        counts.received = number_in<std::int64_t>(field(line, "recved="));
        counts.sent = number_in<std::int64_t>(field(line, "sent="));
        counts.last_operation = field(line, "lop=");
        l.sessions[number_in<session_number>(session, 16)] = std::move(counts);
    });
}

}  // namespace corozk::bench
