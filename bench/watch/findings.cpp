// SPDX-License-Identifier: Apache-2.0
#include "watch/findings.hpp"

#include "server_counters.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
    double events = 0;
    double watches = 0;
    double most = 0;  ///< of one event since the server began; as many as all where it does not say
};

fired fired_between(const server_look& before, const server_look& after, std::string_view what) {
    fired f;
    f.events = grown(before, after, fmt::format("zk_cnt_node_{}_watch_count", what));
    f.watches = grown(before, after, fmt::format("zk_sum_node_{}_watch_count", what));
    auto most = after.counters.find(fmt::format("zk_max_node_{}_watch_count", what));
    f.most = most == after.counters.end() ? f.watches : most->second;
    return f;
}

/// What can have woken a crowd, as far as the server's counts tell. An event counts the watches that
/// it fires, at least one: what is left over are watches that fired together with others. Many events
/// of a few watches leave as much over as one of many: so one has to have had many, some time.
struct causes {
    bool known = false;
    bool data = false;       ///< a change of data, after which all watchers have something to do
    bool structure = false;  ///< a node came or went

    bool any() const { return !known || data || structure; }
};

causes causes_between(const server_look& before, const server_look& after, std::size_t crowd) {
    auto least = static_cast<double>(crowd);
    auto woke = [&](std::string_view what) {
        auto f = fired_between(before, after, what);
        return f.watches - f.events >= least - 1 && f.most >= least;
    };
    causes c;
    c.known = after.counters.contains("zk_cnt_node_deleted_watch_count");
    c.data = woke("changed");
    c.structure = woke("created") || woke("deleted") || woke("children");
    return c;
}

/// The notifications that a session has got: everything that is no response.
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

std::set<session_number> watchers_of_family(const server_look& l, std::string_view family) {
    std::set<session_number> all;
    // All of a family have its name in front.
    for (auto at = l.watchers.lower_bound(family);
         at != l.watchers.end() && at->first.starts_with(family);
         ++at) {
        if (family_of(at->first) == family)
            all.insert(at->second.begin(), at->second.end());
    }
    return all;
}

finding woken_at(const std::string& path,
                 const std::set<session_number>& watchers,
                 const server_look& before,
                 const server_look& after) {
    finding f;
    f.path = path;
    auto again = watchers_of_family(after, family_of(path));
    for (session_number session : watchers) {
        double count = notifications_to(session, before, after);
        if (count <= 0)
            continue;
        f.sessions += 1;
        f.notifications += count;
        f.proceeded += again.contains(session) ? 0 : 1;
    }
    return f;
}

std::vector<finding> woken_crowds(const server_look& before,
                                  const server_look& after,
                                  std::size_t crowd) {
    std::vector<finding> all;
    auto why = causes_between(before, after, crowd);
    if (!why.any())
        return all;  // they were woken for other reasons, each for its own
    for (const auto& [path, watchers] : before.watchers) {
        if (watchers.size() < crowd)
            continue;
        finding f = woken_at(path, watchers, before, after);
        if (f.sessions < static_cast<double>(crowd))
            continue;
        bool only_data = why.known && !why.structure;
        // To proceed, it is enough to be woken once.
        bool herd = !only_data && f.proceeded * 2 <= f.notifications;
        f.kind = herd ? finding_kind::herd : finding_kind::broadcast;
        all.push_back(std::move(f));
    }
    return all;
}

/// Watches that the server has counted, where their nodes are not known.
std::vector<finding> bursts(const server_look& before,
                            const server_look& after,
                            std::size_t crowd) {
    std::vector<finding> all;
    for (std::string_view what : {"created", "deleted", "children"}) {
        auto f = fired_between(before, after, what);
        if (f.events < 1 || f.watches / f.events < static_cast<double>(crowd))
            continue;
        finding found;
        found.kind = finding_kind::burst;
        found.path = what;
        found.sessions = f.watches / f.events;
        found.notifications = f.watches;
        all.push_back(std::move(found));
    }
    return all;
}

std::vector<finding> listings(const server_look& before, const server_look& after) {
    constexpr std::string_view begin = "zk_cnt_";
    constexpr std::string_view end = "_read_per_namespace";
    double sessions = 0;
    for (const auto& [session, counts] : after.sessions)
        sessions += counts.last_operation == listing_operation ? 1 : 0;
    std::vector<finding> all;
    for (const auto& [name, ignored] : after.counters) {
        if (!name.starts_with(begin) || !name.ends_with(end))
            continue;
        std::string part = name.substr(begin.size(), name.size() - begin.size() - end.size());
        finding f;
        f.kind = finding_kind::listing;
        f.path = "/" + part;
        f.sessions = sessions;
        f.reads = grown(before, after, name);
        double bytes = grown(before, after, fmt::format("zk_sum_{}{}", part, end));
        f.bytes = f.reads > 0 ? bytes / f.reads : 0;
        if (f.bytes >= large_response)
            all.push_back(std::move(f));
    }
    return all;
}

std::string burst_text(const finding& f) {
    bool children = f.path == "children";
    std::string what =
        children ? "changes of a node's children" : fmt::format("nodes that were {}", f.path);
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
            return fmt::format("herd at {}: {} sessions woke {} times for {} that could proceed",
                               path,
                               count_text(sessions),
                               count_text(notifications),
                               count_text(proceeded));
        case finding_kind::broadcast:
            return fmt::format("broadcast at {}: {} sessions woke {} times, and had a reason to",
                               path,
                               count_text(sessions),
                               count_text(notifications));
        case finding_kind::crowd:
            return fmt::format("crowd at {}: {} sessions watch it, and a change wakes them all",
                               path,
                               count_text(sessions));
        case finding_kind::burst:
            return burst_text(*this);
        case finding_kind::listing:
            break;
    }
    return fmt::format("large reads below {}: {} of {} each; {} sessions have just listed children",
                       path,
                       count_text(reads),
                       bytes_text(bytes),
                       count_text(sessions));
}

std::vector<finding> findings_of(const server_look& now, std::size_t crowd) {
    std::vector<finding> all;
    for (const auto& [path, watchers] : now.watchers) {
        if (watchers.size() < crowd)
            continue;
        finding f;
        f.kind = finding_kind::crowd;
        f.path = path;
        f.sessions = static_cast<double>(watchers.size());
        all.push_back(std::move(f));
    }
    return all;
}

std::vector<finding> findings_between(const server_look& before,
                                      const server_look& after,
                                      std::size_t crowd) {
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
