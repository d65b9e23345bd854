// SPDX-License-Identifier: Apache-2.0
#include "recipe/inspection/deadlocks_rule.hpp"

#include "recipe/inspection/wait_list.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>

#include <algorithm>
#include <arpa/inet.h>
#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace corozk::detail {

namespace {

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

/// A binary tree above a list: each range consists of the leaves below a few nodes. The children of
/// node n are 2n and 2n + 1, the leaf of element i is `size` + i.
struct range_tree {
    explicit range_tree(std::size_t size_) noexcept : size(size_) {}

    template <class Function>
    void for_each_node(std::size_t first, std::size_t last, Function f) const {
        first += size;
        last += size;
        for (; first < last; first /= 2, last /= 2) {
            if (first % 2 == 1)
                f(first++);
            if (last % 2 == 1)
                f(--last);
        }
    }

    const std::size_t size;
};

/// The waits that never end. A participant without such waits finishes and ends the waits for it.
std::vector<const surveyed_wait*> endless(const wait_list& list) {
    std::vector<bool> ends(list.waits.size());
    std::vector<std::size_t> left(list.participants);  // each participant's waits that do not end
    const range_tree tree(list.blockers.size());
    std::vector<std::vector<std::size_t>> waits_at(2 * tree.size);  // its nodes
    for (std::size_t i = 0; i < list.waits.size(); ++i) {
        const surveyed_wait& w = list.waits[i];
        ends[i] = !list.is_for_others(w);
        left[w.who] += ends[i] ? 0 : 1;
        tree.for_each_node(
            w.first, w.last, [&waits_at, i](std::size_t node) { waits_at[node].push_back(i); });
    }
    std::vector<std::size_t> done;
    for (std::size_t who = 0; who < list.participants; ++who) {
        if (left[who] == 0)
            done.push_back(who);
    }
    while (!done.empty()) {
        const std::size_t who = done.back();
        done.pop_back();
        for (std::size_t place : list.places[who]) {
            for (std::size_t node = tree.size + place; node > 0; node /= 2) {
                for (std::size_t i : std::exchange(waits_at[node], {})) {
                    if (ends[i])
                        continue;
                    ends[i] = true;
                    if (--left[list.waits[i].who] == 0)
                        done.push_back(list.waits[i].who);
                }
            }
        }
    }
    std::vector<const surveyed_wait*> result;
    for (std::size_t i = 0; i < list.waits.size(); ++i) {
        if (!ends[i])
            result.push_back(&list.waits[i]);
    }
    return result;
}

/// For each participant, its endless waits.
using waits_of = std::vector<std::vector<const surveyed_wait*>>;

/// For each participant, its strongly connected component. Waits lead to nodes of the tree above the
/// blockers, and from there down to them.
std::vector<std::size_t> groups_of(const wait_list& list, const waits_of& waits) {
    const range_tree tree(list.blockers.size());
    const std::size_t root = list.participants;  // the nodes follow the participants
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph(root + 2 * tree.size);
    for (std::size_t node = 1; node < tree.size; ++node) {
        boost::add_edge(root + node, root + 2 * node, graph);
        boost::add_edge(root + node, root + 2 * node + 1, graph);
    }
    for (std::size_t i = 0; i < tree.size; ++i)
        boost::add_edge(root + tree.size + i, list.blockers[i].who, graph);
    for (std::size_t from = 0; from < waits.size(); ++from) {
        for (const surveyed_wait* w : waits[from])
            tree.for_each_node(w->first, w->last, [&](std::size_t node) {
                boost::add_edge(from, root + node, graph);
            });
    }
    std::vector<std::size_t> groups(boost::num_vertices(graph));
    boost::strong_components(
        graph,
        boost::make_iterator_property_map(groups.begin(), boost::get(boost::vertex_index, graph)));
    groups.resize(list.participants);
    return groups;
}

/// The elements of a list that were not taken yet.
class untaken {
public:
    /// The first one from this one on; perhaps behind the end of the list.
    std::size_t from(std::size_t i) {
        std::size_t found = i;
        for (auto at = next_.find(found); at != next_.end(); at = next_.find(found))
            found = at->second;
        while (i != found)
            i = std::exchange(next_.at(i), found);
        return found;
    }
    void take(std::size_t i) { next_[i] = i + 1; }

private:
    std::unordered_map<std::size_t, std::size_t> next_;  ///< of those taken, a later one
};

/// The shortest cycle through a participant within its group; empty if there is none.
std::vector<wait_edge> circle_from(std::size_t start,
                                   const wait_list& list,
                                   const waits_of& waits,
                                   const std::vector<std::size_t>& groups) {
    struct step {
        const surveyed_wait* by;
        std::size_t to;  ///< in `blockers`
    };
    std::map<std::size_t, step> reached;
    auto circle_by = [&](step last) {
        std::vector<wait_edge> circle;
        for (; last.by->who != start; last = reached.at(last.by->who))
            circle.push_back(list.edge(*last.by, last.to));
        circle.push_back(list.edge(*last.by, last.to));
        std::reverse(circle.begin(), circle.end());
        return circle;
    };
    untaken blockers;
    std::deque<std::size_t> open{start};
    while (!open.empty()) {
        const std::size_t at = open.front();
        open.pop_front();
        for (const surveyed_wait* w : waits[at]) {
            const std::size_t back = at == start ? w->last : list.place_in(*w, start);
            if (back != w->last)
                return circle_by({w, back});
            for (std::size_t i = blockers.from(w->first); i < w->last; i = blockers.from(i)) {
                blockers.take(i);
                const std::size_t to = list.blockers[i].who;
                if (to != start && groups[to] == groups[start] &&
                    reached.emplace(to, step{w, i}).second)
                    open.push_back(to);
            }
        }
    }
    return {};
}

std::vector<std::vector<wait_edge>> deadlocks_of(const wait_list& list) {
    waits_of waits(list.participants);
    for (const surveyed_wait* w : endless(list))
        waits[w->who].push_back(w);
    const std::vector<std::size_t> groups = groups_of(list, waits);
    std::map<std::size_t, std::size_t> members;
    for (std::size_t group : groups)
        ++members[group];
    std::vector<std::vector<wait_edge>> deadlocks;
    for (std::size_t who = 0; who < list.participants; ++who) {
        // Once for each; nobody is in a circle alone.
        if (std::exchange(members[groups[who]], 0) > 1)
            deadlocks.push_back(circle_from(who, list, waits, groups));
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

/// The waits of an earlier survey, to tell which of a later one existed all the time.
class earlier_waits {
public:
    explicit earlier_waits(const wait_list& list) : list_(list) {
        for (const surveyed_wait& w : list.waits) {
            if (w.size() > 1)
                several_.emplace(w.waiter->path, &w);
            else
                single_.emplace(w.waiter->path, list.blockers[w.first].info->path);
        }
        for (std::size_t i = 0; i < list.blockers.size(); ++i)
            places_.emplace(list.blockers[i].info->path, i);
    }

    /// Omits each wait with an edge that was not there, as a whole: that blocker could have ended it.
    void keep_in(wait_list& later) const {
        // Where each blocker was, and how far those behind it were in the same order.
        std::vector<std::size_t> was(later.blockers.size());
        std::vector<std::size_t> ordered_until(later.blockers.size());
        for (std::size_t i = 0; i < was.size(); ++i) {
            auto found = places_.find(later.blockers[i].info->path);
            was[i] = found == places_.end() ? nowhere : found->second;
        }
        for (std::size_t i = was.size(); i-- > 0;) {
            const bool ordered = i + 1 < was.size() && was[i] < was[i + 1] && was[i + 1] != nowhere;
            ordered_until[i] = ordered ? ordered_until[i + 1] : i + 1;
        }
        std::erase_if(later.waits, [&](const surveyed_wait& w) {
            auto found = several_.find(w.waiter->path);
            if (found == several_.end())
                return !had_single(later, w);
            const surveyed_wait& before = *found->second;
            // As a rule both are sections of one list.
            const bool within = was[w.first] >= before.first && was[w.first] != nowhere &&
                                ordered_until[w.first] >= w.last && was[w.last - 1] < before.last;
            return !within && !had_each(before, later, w);
        });
    }

private:
    static constexpr std::size_t nowhere = std::string::npos;

    bool had_single(const wait_list& later, const surveyed_wait& w) const {
        for (std::size_t i = w.first; i < w.last; ++i) {
            if (!single_.contains({w.waiter->path, later.blockers[i].info->path}))
                return false;
        }
        return true;
    }

    bool had_each(const surveyed_wait& before,
                  const wait_list& later,
                  const surveyed_wait& w) const {
        std::set<std::string_view> had;
        for (std::size_t i = before.first; i < before.last; ++i)
            had.insert(list_.blockers[i].info->path);
        for (std::size_t i = w.first; i < w.last; ++i) {
            if (!had.contains(later.blockers[i].info->path))
                return false;
        }
        return true;
    }

    const wait_list& list_;
    std::set<std::pair<std::string_view, std::string_view>> single_;  ///< waiters and blockers
    std::unordered_map<std::string_view, const surveyed_wait*> several_;
    std::unordered_map<std::string_view, std::size_t> places_;
};

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
    const wait_list before(earlier, by_session);
    const earlier_waits seen(before);
    wait_list after(later, by_session);
    wait_graph graph;
    graph.edges = after.edges();
    seen.keep_in(after);
    graph.deadlocks = deadlocks_of(after);
    wait_list joined(later, by_identity);
    seen.keep_in(joined);
    add_those_by_identity(graph, after, joined);
    return graph;
}

}  // namespace corozk::detail
