// SPDX-License-Identifier: Apache-2.0
#include "recipe/inspection/deadlocks_rule.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>

#include <algorithm>
#include <arpa/inet.h>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace corozk::detail {

namespace {

/// The maximum number of reported alternatives: hundreds may wait for any of hundreds of permits.
constexpr std::size_t edges_told_of_each = 16;

/// A contender waits for another one; both are owned by the survey.
struct edge {
    const surveyed_queue* queue;
    const contender_info* waiter;
    const contender_info* blocker;
    std::size_t to;  ///< the blocker's participant

    wait_edge copy() const {
        wait_edge result;
        result.path = queue->path;
        result.waiter = *waiter;
        result.blocker = *blocker;
        return result;
    }
};

/// Ends as soon as any of these is gone.
struct wait {
    std::size_t who;
    std::vector<edge> edges;
};

/// A session together with an identity, or an identity alone (session 0).
using participant = std::pair<std::int64_t, std::string_view>;

/// Who a contender is.
using naming_rule = participant (*)(const contender_info&);

participant by_session(const contender_info& c) {
    return {c.session_id, c.data};
}

/// Whether an identity can be that of several sessions. Curator writes the address of its host where
/// none was set: that of strangers, too.
bool joins_sessions(const std::string& identity) {
    const std::string without_scope = identity.substr(0, identity.find('%'));
    in6_addr address;
    bool is_address = ::inet_pton(AF_INET, without_scope.c_str(), &address) == 1 ||
                      ::inet_pton(AF_INET6, without_scope.c_str(), &address) == 1;
    return !identity.empty() && !is_address;
}

participant by_identity(const contender_info& c) {
    return {joins_sessions(c.data) ? 0 : c.session_id, c.data};
}

bool waits_for_permits(const contender_info& c) {
    return c.kind == "lease";
}

/// The waits of a survey. Participants are numbered in their order.
struct wait_list {
    wait_list(const std::vector<surveyed_queue>& queues, naming_rule name) {
        std::map<participant, std::size_t> numbers;
        for (const surveyed_queue& queue : queues) {
            for (const contender_info& c : queue.contenders)
                numbers.emplace(name(c), 0);
        }
        for (auto& [who, number] : numbers)
            number = participants++;
        auto number_of = [&](const contender_info& c) { return numbers.at(name(c)); };
        for (const surveyed_queue& queue : queues) {
            struct contender {
                const contender_info* info;
                std::size_t participant;
            };
            std::unordered_map<std::string_view, contender> by_path;
            for (const contender_info& c : queue.contenders)
                by_path.emplace(c.path, contender{&c, number_of(c)});
            // Waiters share path lists: each path is looked up once.
            std::unordered_map<const std::string*, const contender*> by_place;
            for (const contender_info& c : queue.contenders) {
                wait w{by_path.at(c.path).participant, {}};
                w.edges.reserve(c.waits_for.size());
                for (const std::string& path : c.waits_for) {
                    auto [known, fresh] = by_place.try_emplace(&path, nullptr);
                    auto found = fresh ? by_path.find(path) : by_path.end();
                    if (found != by_path.end())
                        known->second = &found->second;
                    if (const contender* blocker = known->second)
                        w.edges.push_back({&queue, &c, blocker->info, blocker->participant});
                }
                add(std::move(w), waits_for_permits(c));
            }
        }
    }

    /// A contender that waits for each of its blockers has as many waits.
    void add(wait w, bool any) {
        if (any && !w.edges.empty())
            return waits.push_back(std::move(w));
        for (const edge& e : w.edges)
            waits.push_back({w.who, {e}});
    }

    std::vector<wait_edge> edges() const {
        std::vector<wait_edge> result;
        for (const wait& w : waits) {
            std::size_t told = std::min(w.edges.size(), edges_told_of_each);
            for (std::size_t i = 0; i < told; ++i)
                result.push_back(w.edges[i].copy());
        }
        return result;
    }

    std::vector<wait> waits;
    std::size_t participants = 0;
};

/// A participant's wait for itself ends with its other waits.
bool is_for_others(const wait& w) {
    return std::any_of(
        w.edges.begin(), w.edges.end(), [&w](const edge& e) { return e.to != w.who; });
}

/// The waits that never end. A participant without such waits finishes and ends the waits for it.
std::vector<const wait*> endless(const wait_list& list) {
    std::vector<bool> ends(list.waits.size());
    std::vector<std::size_t> left(list.participants);  // each participant's waits that do not end
    std::vector<std::vector<std::size_t>> waited_for_by(list.participants);
    for (std::size_t i = 0; i < list.waits.size(); ++i) {
        const wait& w = list.waits[i];
        ends[i] = !is_for_others(w);
        left[w.who] += ends[i] ? 0 : 1;
        for (const edge& e : w.edges)
            waited_for_by[e.to].push_back(i);
    }
    std::vector<std::size_t> done;
    for (std::size_t who = 0; who < list.participants; ++who) {
        if (left[who] == 0)
            done.push_back(who);
    }
    while (!done.empty()) {
        std::size_t who = done.back();
        done.pop_back();
        for (std::size_t i : waited_for_by[who]) {
            if (ends[i])
                continue;
            ends[i] = true;
            if (--left[list.waits[i].who] == 0)
                done.push_back(list.waits[i].who);
        }
    }
    std::vector<const wait*> result;
    for (std::size_t i = 0; i < list.waits.size(); ++i) {
        if (!ends[i])
            result.push_back(&list.waits[i]);
    }
    return result;
}

/// For each participant, the edges of its endless waits.
using edges_from = std::vector<std::vector<const edge*>>;

/// For each participant, its strongly connected component.
std::vector<std::size_t> groups_of(const edges_from& edges) {
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph(edges.size());
    for (std::size_t from = 0; from < edges.size(); ++from) {
        for (const edge* e : edges[from])
            boost::add_edge(from, e->to, graph);
    }
    std::vector<std::size_t> groups(edges.size());
    boost::strong_components(
        graph,
        boost::make_iterator_property_map(groups.begin(), boost::get(boost::vertex_index, graph)));
    return groups;
}

/// The shortest cycle through a participant within its group; empty if there is none.
std::vector<wait_edge> circle_from(std::size_t start,
                                   const edges_from& edges,
                                   const std::vector<std::size_t>& groups) {
    struct step {
        const edge* by;
        std::size_t from;
    };
    std::map<std::size_t, step> reached;
    std::deque<std::size_t> open{start};
    while (!open.empty() && !reached.contains(start)) {
        std::size_t at = open.front();
        open.pop_front();
        for (const edge* e : edges[at]) {
            if (groups[e->to] == groups[start] && reached.emplace(e->to, step{e, at}).second)
                open.push_back(e->to);
        }
    }
    std::vector<wait_edge> circle;
    if (!reached.contains(start))
        return circle;
    std::size_t at = start;
    do {
        const step& back = reached.at(at);
        circle.push_back(back.by->copy());
        at = back.from;
    } while (at != start);
    std::reverse(circle.begin(), circle.end());
    return circle;
}

std::vector<std::vector<wait_edge>> deadlocks_of(const wait_list& list) {
    edges_from edges(list.participants);
    for (const wait* w : endless(list)) {
        for (const edge& e : w->edges) {
            if (e.to != w->who)
                edges[w->who].push_back(&e);
        }
    }
    const std::vector<std::size_t> groups = groups_of(edges);
    std::set<std::size_t> reported;
    std::vector<std::vector<wait_edge>> deadlocks;
    for (std::size_t who = 0; who < list.participants; ++who) {
        if (!reported.insert(groups[who]).second)
            continue;
        std::vector<wait_edge> circle = circle_from(who, edges, groups);
        if (!circle.empty())
            deadlocks.push_back(std::move(circle));
    }
    return deadlocks;
}

/// Adds the deadlocks of participants with several sessions, unless a part of them was found without
/// that. Where no identity joins sessions there are none.
void add_those_by_identity(wait_graph& graph, const wait_list& by_sessions, const wait_list& list) {
    if (list.participants == by_sessions.participants)
        return;
    std::set<std::string> found;
    for (const auto& circle : graph.deadlocks) {
        for (const wait_edge& e : circle)
            found.insert(e.waiter.path);
    }
    for (auto& circle : deadlocks_of(list)) {
        bool known = std::any_of(circle.begin(), circle.end(), [&found](const wait_edge& e) {
            return found.contains(e.waiter.path);
        });
        if (!known)
            graph.deadlocks.push_back(std::move(circle));
    }
}

/// Omits each wait with an edge that was not there before, as a whole: that blocker could have ended
/// it.
void keep_earlier(wait_list& list,
                  const std::set<std::pair<std::string_view, std::string_view>>& seen) {
    std::erase_if(list.waits, [&seen](const wait& w) {
        return std::any_of(w.edges.begin(), w.edges.end(), [&seen](const edge& e) {
            return !seen.contains({e.waiter->path, e.blocker->path});
        });
    });
}

}  // namespace

wait_graph judge(const std::vector<surveyed_queue>& queues) {
    wait_list list(queues, by_session);
    wait_graph graph;
    graph.edges = list.edges();
    graph.deadlocks = deadlocks_of(list);
    add_those_by_identity(graph, list, wait_list(queues, by_identity));
    return graph;
}

wait_graph judge_twice(const std::vector<surveyed_queue>& earlier,
                       const std::vector<surveyed_queue>& later) {
    using nodes = std::pair<std::string_view, std::string_view>;
    std::set<nodes> seen;
    const wait_list before(earlier, by_session);
    for (const wait& w : before.waits) {
        for (const edge& e : w.edges)
            seen.insert({e.waiter->path, e.blocker->path});
    }
    wait_list after(later, by_session);
    wait_graph graph;
    graph.edges = after.edges();
    keep_earlier(after, seen);
    graph.deadlocks = deadlocks_of(after);
    wait_list joined(later, by_identity);
    keep_earlier(joined, seen);
    add_those_by_identity(graph, after, joined);
    return graph;
}

}  // namespace corozk::detail
