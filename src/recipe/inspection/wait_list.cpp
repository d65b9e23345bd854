// SPDX-License-Identifier: Apache-2.0
#include "recipe/inspection/wait_list.hpp"

#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <unordered_map>

namespace corozk::detail {

namespace {

/// The maximum number of reported alternatives: hundreds may wait for any of hundreds of permits.
constexpr std::size_t edges_told_of_each = 16;

bool waits_for_permits(const contender_info& c) {
    return c.kind == "lease";
}

/// The blockers in a queue: the elements of its contenders' lists, each once where lists share them.
class shared_blockers {
public:
    /// Appends the contenders that `find(path)` knows (not null) to `all`.
    template <class Find>
    shared_blockers(const surveyed_queue& queue, Find find, std::vector<surveyed_blocker>& all) {
        std::vector<section> lists;
        for (const contender_info& c : queue.contenders) {
            if (!c.waits_for.empty())
                lists.push_back({c.waits_for.begin(), c.waits_for.end(), 0});
        }
        std::sort(lists.begin(), lists.end(), [](const section& a, const section& b) {
            return std::less<>()(a.begin, b.begin);
        });
        for (const section& list : lists) {
            if (sections_.empty() || !std::less<>()(list.begin, sections_.back().end))
                sections_.push_back(list);
            else if (std::less<>()(sections_.back().end, list.end))
                sections_.back().end = list.end;
        }
        for (section& s : sections_) {
            s.offset = places_.size();
            for (const std::string* path = s.begin; path != s.end; ++path) {
                places_.push_back(all.size());
                if (const surveyed_blocker* found = find(*path))
                    all.push_back(*found);
            }
            places_.push_back(all.size());
        }
    }

    /// Where those of a list are, which is not empty.
    std::pair<std::size_t, std::size_t> range_of(const path_list& list) const {
        auto behind = std::upper_bound(
            sections_.begin(),
            sections_.end(),
            list.begin(),
            [](const std::string* path, const section& s) { return std::less<>()(path, s.begin); });
        const section& s = *std::prev(behind);
        const auto at = s.offset + static_cast<std::size_t>(list.begin() - s.begin);
        return {places_[at], places_[at + list.size()]};
    }

private:
    struct section {
        const std::string* begin;
        const std::string* end;
        std::size_t offset;  ///< in `places_`
    };
    std::vector<section> sections_;    ///< in their order in memory, apart from each other
    std::vector<std::size_t> places_;  ///< of each element, and of the end of each section
};

}  // namespace

wait_list::wait_list(const std::vector<surveyed_queue>& queues, naming_rule name) {
    std::map<participant, std::size_t> numbers;
    for (const surveyed_queue& queue : queues) {
        for (const contender_info& c : queue.contenders)
            numbers.emplace(name(c), 0);
    }
    for (auto& [who, number] : numbers)
        number = participants++;
    for (const surveyed_queue& queue : queues) {
        std::unordered_map<std::string_view, surveyed_blocker> by_path;
        for (const contender_info& c : queue.contenders)
            by_path.emplace(c.path, surveyed_blocker{&c, numbers.at(name(c))});
        auto find = [&by_path](const std::string& path) {
            auto found = by_path.find(path);
            return found == by_path.end() ? nullptr : &found->second;
        };
        const shared_blockers shared(queue, find, blockers);
        for (const contender_info& c : queue.contenders) {
            if (c.waits_for.empty())
                continue;
            const auto [first, last] = shared.range_of(c.waits_for);
            add({&queue, &c, by_path.at(c.path).who, first, last});
        }
    }
    places.resize(participants);
    same_until.resize(blockers.size());
    for (std::size_t i = blockers.size(); i-- > 0;) {
        const bool same = i + 1 < blockers.size() && blockers[i + 1].who == blockers[i].who;
        same_until[i] = same ? same_until[i + 1] : i + 1;
    }
    for (std::size_t i = 0; i < blockers.size(); ++i)
        places[blockers[i].who].push_back(i);
}

void wait_list::add(const surveyed_wait& w) {
    if (w.size() == 0)
        return;
    if (waits_for_permits(*w.waiter))
        return waits.push_back(w);
    for (std::size_t i = w.first; i < w.last; ++i)
        waits.push_back({w.queue, w.waiter, w.who, i, i + 1});
}

wait_edge wait_list::edge(const surveyed_wait& w, std::size_t to) const {
    wait_edge result;
    result.path = w.queue->path;
    result.waiter = *w.waiter;
    result.blocker = *blockers[to].info;
    return result;
}

std::vector<wait_edge> wait_list::edges() const {
    std::vector<wait_edge> result;
    for (const surveyed_wait& w : waits) {
        const std::size_t told = std::min(w.size(), edges_told_of_each);
        for (std::size_t i = 0; i < told; ++i)
            result.push_back(edge(w, w.first + i));
    }
    return result;
}

}  // namespace corozk::detail
