// SPDX-License-Identifier: Apache-2.0
#include "watch/findings.hpp"

#include "server_counters.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace corozk::bench {

namespace {

/// A response that is larger is worth a word.
constexpr double large_response = 4'096;
constexpr std::string_view listing_operation = "GETC";

std::string_view folder_of(std::string_view path) {
    return path.substr(0, path.rfind('/'));
}

/// Sequential nodes of a folder are the same to those who wait for their turn.
std::string_view family_of(std::string_view path) {
    constexpr std::size_t digits = 10;
    std::string_view end = path.substr(path.size() - std::min(path.size(), digits));
    bool sequential = path.size() > digits && std::all_of(end.begin(), end.end(), [](char c) {
                          return c >= '0' && c <= '9';
                      });
    return sequential ? folder_of(path) : path;
}

double grown(const server_look& before, const server_look& after, std::string_view name) {
    return after.counter(name) - before.counter(name);
}

/// Watches that fired, by what has happened to the node (since ZooKeeper 3.6).
struct fired {
    double events = 0;  ///< each counts on all servers where somebody watches
    double turns = 0;   ///< events of the server that has counted most
    double watches = 0;
    double most = 0;  ///< of one event since the server began; as many as all where it does not say
};

fired fired_between(server_looks before, server_looks after, std::string_view what) {
    fired f;
    for (std::size_t i = 0; i < after.size(); ++i) {
        double events = grown(before[i], after[i], fmt::format("zk_cnt_node_{}_watch_count", what));
        double watches =
            grown(before[i], after[i], fmt::format("zk_sum_node_{}_watch_count", what));
        auto most = after[i].counters.find(fmt::format("zk_max_node_{}_watch_count", what));
        f.events += events;
        f.turns = std::max(f.turns, events);
        f.watches += watches;
        f.most += most == after[i].counters.end() ? watches : most->second;
    }
    return f;
}

/// What can have woken a crowd, as far as the servers' counts tell. An event counts the watches that
/// it fires, at least one at each server: what is left over are watches that fired together with
/// others. Many events of a few watches leave as much over as one of many: so one has to have had
/// many, some time.
struct causes {
    bool known = false;
    bool data = false;       ///< a change of data, after which all watchers have something to do
    bool structure = false;  ///< a node came or went
    double turns = 0;        ///< so often at the most

    bool any() const { return !known || data || structure; }
};

causes causes_between(server_looks before, server_looks after, std::size_t crowd) {
    auto least = static_cast<double>(crowd);
    auto servers = static_cast<double>(after.size());
    causes c;
    auto woke = [&](std::string_view what) {
        auto f = fired_between(before, after, what);
        return f.watches - f.events >= least - servers && f.watches >= least && f.most >= least;
    };
    c.known = std::all_of(after.begin(), after.end(), [](const server_look& l) {
        return l.counters.contains("zk_cnt_node_deleted_watch_count");
    });
    c.data = woke("changed");
    for (std::string_view what : {"created", "deleted", "children"}) {
        if (!woke(what))
            continue;
        c.structure = true;
        c.turns += fired_between(before, after, what).turns;
    }
    return c;
}

/// The notifications that a session has got: everything that is no response. Nothing if it has
/// another server now.
double notifications_to(session_number session,
                        const server_look& before,
                        const server_look& after) {
    auto old = before.sessions.find(session);
    auto now = after.sessions.find(session);
    if (old == before.sessions.end() || now == after.sessions.end())
        return 0;
    return static_cast<double>((now->second.sent - old->second.sent) -
                               (now->second.received - old->second.received));
}

std::set<session_number> watchers_of_family(server_looks looks, std::string_view family) {
    std::set<session_number> all;
    for (const server_look& l : looks) {
        // All of a family have its name in front.
        for (auto at = l.watchers.lower_bound(family);
             at != l.watchers.end() && at->first.starts_with(family);
             ++at) {
            if (family_of(at->first) == family)
                all.insert(at->second.begin(), at->second.end());
        }
    }
    return all;
}

/// How many sessions watch each path, at all servers.
std::map<std::string, std::size_t> crowds_of(server_looks looks, std::size_t crowd) {
    std::map<std::string, std::size_t> all;
    for (const server_look& l : looks) {
        for (const auto& [path, watchers] : l.watchers)
            all[path] += watchers.size();
    }
    std::erase_if(all, [crowd](const auto& each) { return each.second < crowd; });
    return all;
}

finding woken_at(const std::string& path, server_looks before, server_looks after) {
    finding f;
    f.path = path;
    f.servers = 0;
    auto again = watchers_of_family(after, family_of(path));
    for (std::size_t i = 0; i < before.size(); ++i) {
        double others = f.sessions;
        auto watchers = before[i].watchers.find(path);
        if (watchers == before[i].watchers.end())
            continue;
        for (session_number session : watchers->second) {
            double count = notifications_to(session, before[i], after[i]);
            if (count <= 0)
                continue;
            f.sessions += 1;
            f.notifications += count;
            f.proceeded += again.contains(session) ? 0 : 1;
        }
        f.servers += f.sessions > others ? 1 : 0;
    }
    return f;
}

/// Each turn wakes each of them once. Who is woken by other things as well is woken more often: so
/// there are no more turns than the servers have counted.
double turns_of(const finding& f, const causes& why) {
    double turns = std::max(1.0, std::round(f.notifications / f.sessions));
    return why.known && why.turns > 0 ? std::min(turns, why.turns) : turns;
}

std::vector<finding> woken_crowds(server_looks before, server_looks after, std::size_t crowd) {
    std::vector<finding> all;
    auto why = causes_between(before, after, crowd);
    if (!why.any())
        return all;  // they were woken for other reasons, each for its own
    for (const auto& [path, count] : crowds_of(before, crowd)) {
        finding f = woken_at(path, before, after);
        if (f.sessions < static_cast<double>(crowd))
            continue;
        bool only_data = why.known && !why.structure;
        // To proceed, it is enough to be woken once.
        bool herd = !only_data && f.proceeded * 2 <= f.notifications;
        f.kind = herd ? finding_kind::herd : finding_kind::broadcast;
        f.turns = turns_of(f, why);
        all.push_back(std::move(f));
    }
    return all;
}

/// Watches that the servers have counted, where their nodes are not known.
std::vector<finding> bursts(server_looks before, server_looks after, std::size_t crowd) {
    std::vector<finding> all;
    for (std::string_view what : {"created", "deleted", "children"}) {
        auto f = fired_between(before, after, what);
        // Of the same events at several servers.
        double turns = f.most < static_cast<double>(crowd) ? f.events : f.turns;
        if (turns < 1 || f.watches / turns < static_cast<double>(crowd))
            continue;
        finding found;
        found.kind = finding_kind::burst;
        found.event = what;
        found.sessions = f.watches / turns;
        found.notifications = f.watches;
        all.push_back(std::move(found));
    }
    return all;
}

std::vector<finding> listings(server_looks before, server_looks after) {
    constexpr std::string_view begin = "zk_cnt_";
    constexpr std::string_view end = "_read_per_namespace";
    double sessions = 0;
    std::map<std::string, finding> by_path;
    for (std::size_t i = 0; i < after.size(); ++i) {
        for (const auto& [session, counts] : after[i].sessions)
            sessions += counts.last_operation == listing_operation ? 1 : 0;
        for (const auto& [name, ignored] : after[i].counters) {
            if (!name.starts_with(begin) || !name.ends_with(end))
                continue;
            std::string part = name.substr(begin.size(), name.size() - begin.size() - end.size());
            finding& f = by_path["/" + part];
            f.reads += grown(before[i], after[i], name);
            f.bytes += grown(before[i], after[i], fmt::format("zk_sum_{}{}", part, end));
        }
    }
    std::vector<finding> all;
    for (auto& [path, f] : by_path) {
        f.kind = finding_kind::listing;
        f.path = path;
        f.sessions = sessions;
        f.bytes = f.reads > 0 ? f.bytes / f.reads : 0;
        if (f.bytes >= large_response)
            all.push_back(std::move(f));
    }
    return all;
}

std::string sessions_text(const finding& f) {
    std::string text = fmt::format("{} sessions", count_text(f.sessions));
    return f.servers > 1 ? fmt::format("{} on {} servers", text, count_text(f.servers)) : text;
}

std::string burst_text(const finding& f) {
    bool children = f.event == "children";
    std::string what =
        children ? "changes of a node's children" : fmt::format("nodes that were {}", f.event);
    std::string text = fmt::format(
        "burst: {} woke {} watches each ({} in all); their path is not "
        "known",
        what,
        figure_text(f.sessions),
        count_text(f.notifications));
    return children ? text + ": wchp does not list watches of children" : text;
}

}  // namespace

std::string_view to_string(finding_kind kind) {
    constexpr std::array<std::string_view, 5> names{
        "herd", "broadcast", "crowd", "burst", "listing"};
    return names.at(static_cast<std::size_t>(kind));
}

std::string finding::text() const {
    switch (kind) {
        case finding_kind::herd:
            return fmt::format(
                "herd at {}: {} woke {} times in about {}; {} of {} wait for the same again",
                path,
                sessions_text(*this),
                count_text(notifications),
                counted(static_cast<std::size_t>(turns), "change"),
                count_text(sessions - proceeded),
                count_text(sessions));
        case finding_kind::broadcast:
            return fmt::format("broadcast at {}: {} woke {} times, and had a reason to",
                               path,
                               sessions_text(*this),
                               count_text(notifications));
        case finding_kind::crowd:
            return fmt::format("crowd at {}: {} watch it, and a change wakes them all",
                               path,
                               sessions_text(*this));
        case finding_kind::burst: return burst_text(*this);
        case finding_kind::listing: break;
    }
    return fmt::format("large reads below {}: {} of {} each; {} sessions have just listed children",
                       path,
                       count_text(reads),
                       bytes_text(bytes),
                       count_text(sessions));
}

std::vector<finding> findings_of(server_looks now, std::size_t crowd) {
    std::vector<finding> all;
    for (const auto& [path, count] : crowds_of(now, crowd)) {
        finding f;
        f.kind = finding_kind::crowd;
        f.path = path;
        f.sessions = static_cast<double>(count);
        f.servers = static_cast<double>(
            std::count_if(now.begin(), now.end(), [&watched = f.path](const server_look& l) {
                return l.watchers.contains(watched);
            }));
        all.push_back(std::move(f));
    }
    return all;
}

std::vector<finding> findings_between(server_looks before, server_looks after, std::size_t crowd) {
    auto all = woken_crowds(before, after, crowd);
    if (all.empty())
        all = bursts(before, after, crowd);
    auto more = listings(before, after);
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

std::optional<double> notifications_between(const server_look& before, const server_look& after) {
    double sum = 0;
    for (auto name : notification_counters) {
        if (!after.counters.contains(name))
            return std::nullopt;
        sum += grown(before, after, name);
    }
    return sum;
}

}  // namespace corozk::bench
