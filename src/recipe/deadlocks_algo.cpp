// SPDX-License-Identifier: Apache-2.0
#include "recipe/deadlocks_algo.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace corozk::detail {

namespace {

using participant = std::pair<std::int64_t, std::string>;

participant participant_of(const contender_info& c) {
    return {c.session_id, c.data};
}

/// What one contender waits for: any of them would do.
struct wait {
    participant who;
    std::vector<wait_edge> edges;
};

std::vector<wait> waits_of(const std::vector<surveyed_line>& lines) {
    std::vector<wait> result;
    for (const surveyed_line& line : lines) {
        std::map<std::string_view, const contender_info*> by_path;
        for (const contender_info& c : line.contenders)
            by_path.emplace(c.path, &c);
        for (const contender_info& c : line.contenders) {
            wait w;
            w.who = participant_of(c);
            for (const std::string& path : c.waits_for) {
                auto blocker = by_path.find(path);
                if (blocker == by_path.end())
                    continue;
                wait_edge edge;
                edge.path = line.path;
                edge.waiter = c;
                edge.blocker = *blocker->second;
                w.edges.push_back(std::move(edge));
            }
            if (!w.edges.empty())
                result.push_back(std::move(w));
        }
    }
    return result;
}

std::set<participant> stuck_ones(const std::vector<wait>& waits) {
    std::set<participant> stuck;
    for (const wait& w : waits)
        stuck.insert(w.who);
    for (;;) {
        std::set<participant> still;
        for (const wait& w : waits) {
            bool never = std::all_of(w.edges.begin(), w.edges.end(), [&](const wait_edge& e) {
                return stuck.contains(participant_of(e.blocker));
            });
            // A wait for oneself ends with whatever else this one waits for.
            bool for_others = std::any_of(w.edges.begin(), w.edges.end(), [&](const wait_edge& e) {
                return participant_of(e.blocker) != w.who;
            });
            if (never && for_others)
                still.insert(w.who);
        }
        if (still == stuck)
            return stuck;
        stuck = std::move(still);
    }
}

using edge_map = std::multimap<participant, const wait_edge*>;

/// The shortest way round from one participant back to it; empty if there is none.
std::vector<wait_edge> circle_from(const participant& start, const edge_map& edges) {
    std::map<participant, const wait_edge*> reached_by;
    std::deque<participant> open{start};
    while (!open.empty()) {
        participant at = open.front();
        open.pop_front();
        auto [begin, end] = edges.equal_range(at);
        for (auto e = begin; e != end; ++e) {
            participant next = participant_of(e->second->blocker);
            if (!reached_by.emplace(next, e->second).second)
                continue;
            if (next != start) {
                open.push_back(next);
                continue;
            }
            std::vector<wait_edge> circle;
            for (participant p = start; circle.empty() || p != start;) {
                const wait_edge* back = reached_by.at(p);
                circle.push_back(*back);
                p = participant_of(back->waiter);
            }
            std::reverse(circle.begin(), circle.end());
            return circle;
        }
    }
    return {};
}

std::set<participant> reachable_from(const participant& start, const edge_map& edges) {
    std::set<participant> seen;
    std::vector<participant> open{start};
    while (!open.empty()) {
        participant at = open.back();
        open.pop_back();
        auto [begin, end] = edges.equal_range(at);
        for (auto e = begin; e != end; ++e) {
            participant next = participant_of(e->second->blocker);
            if (seen.insert(next).second)
                open.push_back(next);
        }
    }
    return seen;
}

wait_graph judge_waits(const std::vector<wait>& waits) {
    wait_graph graph;
    for (const wait& w : waits)
        graph.edges.insert(graph.edges.end(), w.edges.begin(), w.edges.end());
    std::set<participant> stuck = stuck_ones(waits);
    edge_map between_stuck;
    for (const wait& w : waits) {
        // One that can go on some day is not a reason to be stuck.
        bool never = std::all_of(w.edges.begin(), w.edges.end(), [&](const wait_edge& e) {
            return stuck.contains(participant_of(e.blocker));
        });
        for (const wait_edge& e : w.edges) {
            if (never && participant_of(e.blocker) != w.who)
                between_stuck.emplace(w.who, &e);
        }
    }
    std::set<participant> reported;
    for (const participant& who : stuck) {
        if (reported.contains(who))
            continue;
        std::vector<wait_edge> circle = circle_from(who, between_stuck);
        if (circle.empty())
            continue;
        // The others of the group: who is reached and comes back.
        for (const participant& other : reachable_from(who, between_stuck)) {
            if (reachable_from(other, between_stuck).contains(who))
                reported.insert(other);
        }
        graph.deadlocks.push_back(std::move(circle));
    }
    return graph;
}

}  // namespace

wait_graph judge(const std::vector<surveyed_line>& lines) {
    return judge_waits(waits_of(lines));
}

wait_graph judge_twice(const std::vector<surveyed_line>& earlier,
                       const std::vector<surveyed_line>& later) {
    using nodes = std::pair<std::string_view, std::string_view>;
    std::set<nodes> seen;
    std::vector<wait> before = waits_of(earlier);
    for (const wait& w : before) {
        for (const wait_edge& e : w.edges)
            seen.insert({e.waiter.path, e.blocker.path});
    }
    std::vector<wait> after = waits_of(later);
    wait_graph graph;
    for (const wait& w : after)
        graph.edges.insert(graph.edges.end(), w.edges.begin(), w.edges.end());
    // A wait of which a part is new is left out as a whole: the part could have let it go.
    std::erase_if(after, [&seen](const wait& w) {
        return std::any_of(w.edges.begin(), w.edges.end(), [&seen](const wait_edge& e) {
            return !seen.contains({e.waiter.path, e.blocker.path});
        });
    });
    graph.deadlocks = judge_waits(after).deadlocks;
    return graph;
}

}  // namespace corozk::detail
