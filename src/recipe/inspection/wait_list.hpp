// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recipe/inspection/deadlocks_rule.hpp"
#include <corozk/recipe/deadlocks_types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace corozk::detail {

/// A contender that others wait for, owned by the survey.
struct surveyed_blocker {
    const contender_info* info;
    std::size_t who;  ///< its participant
};

/// Ends as soon as any of the blockers `[first, last)` of the list is gone.
struct surveyed_wait {
    const surveyed_queue* queue;
    const contender_info* waiter;
    std::size_t who;
    std::size_t first;
    std::size_t last;

    std::size_t size() const noexcept { return last - first; }
};

/// A session together with an identity, or an identity alone (session 0).
using participant = std::pair<std::int64_t, std::string_view>;

/// Who a contender is.
using naming_rule = participant (*)(const contender_info&);

/// The waits of a survey. Participants are numbered in their order. Thousands may wait for any of
/// thousands of permits each: what waits have in common is stored, and examined, once.
struct wait_list {
    wait_list(const std::vector<surveyed_queue>& queues, naming_rule name);

    wait_edge edge(const surveyed_wait& w, std::size_t to) const;

    /// To be shown: of alternatives, only the first ones.
    std::vector<wait_edge> edges() const;

    /// A participant's wait for itself ends with its other waits.
    bool is_for_others(const surveyed_wait& w) const {
        return blockers[w.first].who != w.who || same_until[w.first] < w.last;
    }

    /// The first place of a participant in the range of a wait, or its end.
    std::size_t place_in(const surveyed_wait& w, std::size_t who) const {
        const auto& all = places[who];
        auto at = std::lower_bound(all.begin(), all.end(), w.first);
        return at == all.end() ? w.last : std::min(*at, w.last);
    }

    /// A contender that waits for each of its blockers has as many waits.
    std::vector<surveyed_wait> waits;
    std::size_t participants = 0;
    std::vector<surveyed_blocker> blockers;        ///< waits refer to ranges of it
    std::vector<std::vector<std::size_t>> places;  ///< of each participant, in `blockers`
    std::vector<std::size_t> same_until;  ///< behind each blocker, the first of another participant

private:
    void add(const surveyed_wait& w);
};

}  // namespace corozk::detail
