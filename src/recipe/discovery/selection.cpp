// SPDX-License-Identifier: Apache-2.0
#include "recipe/discovery/selection.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace corozk::detail {

std::vector<candidate> instance_order::arrange(std::vector<candidate> available) {
    if (available.empty())
        return available;
    auto begin = available.begin();
    switch (strategy_) {
        case service_strategy::round_robin: {
            auto next = std::find_if(
                begin, available.end(), [this](const candidate& c) { return c.node > last_; });
            if (next != available.end())
                std::rotate(begin, next, available.end());
            break;
        }
        case service_strategy::random: std::shuffle(begin, available.end(), random_); break;
        case service_strategy::sticky: {
            std::shuffle(begin, available.end(), random_);
            auto same = std::find_if(
                begin, available.end(), [this](const candidate& c) { return c.node == last_; });
            if (same != available.end())
                std::rotate(begin, same, std::next(same));
            break;
        }
    }
    last_ = available.front().node;
    return available;
}

void down_instances::report(const service_instance& instance,
                            const std::map<std::string, instance_table::entry>& known,
                            time_point now) {
    retain(known, now);
    failures& f = failures_[key(instance.id, instance.incarnation)];
    if (f.count == 0 || now >= f.end)
        f = failures{length_.from(now), 0};
    ++f.count;
}

bool down_instances::contains(const service_instance& instance, time_point now) const {
    auto found = failures_.find(key(instance.id, instance.incarnation));
    return found != failures_.end() && sets_aside(found->second, now);
}

std::optional<down_instances::time_point> down_instances::next_return(time_point now) const {
    std::optional<time_point> first;
    for (const auto& [of, f] : failures_) {
        if (sets_aside(f, now) && (!first || f.end < *first))
            first = f.end;
    }
    return first;
}

void down_instances::retain(const std::map<std::string, instance_table::entry>& known,
                            time_point now) {
    std::set<std::pair<std::string_view, std::int64_t>> there;
    if (!failures_.empty()) {
        for (const auto& [node, one] : known) {
            if (one.instance)
                there.emplace(one.instance->id, one.instance->incarnation);
        }
    }
    std::erase_if(failures_, [&](const auto& one) {
        return now >= one.second.end || !there.contains({one.first.first, one.first.second});
    });
}

std::vector<candidate> available_instances(
    const std::map<std::string, instance_table::entry>& known,
    const down_instances& down,
    down_instances::time_point now) {
    std::vector<candidate> result;
    for (const auto& [node, one] : known) {
        if (one.instance && one.instance->enabled && !down.contains(*one.instance, now))
            result.push_back({node, one.instance});
    }
    return result;
}

}  // namespace corozk::detail
