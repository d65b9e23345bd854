// SPDX-License-Identifier: Apache-2.0
#include "queue_pace.hpp"

#include <algorithm>
#include <string_view>

namespace corozk::program {

namespace {

/// Looks that rates are averaged over.
constexpr std::size_t window = 10;

std::string_view name_of(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

}  // namespace

void queue_pace::add(queue_look look) {
    std::set<std::string> names;
    if (look.listing) {
        for (const auto& name : look.listing->names)
            names.emplace(name);
    }
    if (look.listing && !recent_.empty())
        count_changes(look, names);
    else
        note_acknowledgements(names);
    std::erase_if(waiters_, [&](const auto& w) { return !names.contains(w.first); });
    for (const contender_info& c : look.contenders) {
        std::string name(name_of(c.path));
        if (c.holds)
            waiters_.erase(name);
        else
            waiters_[std::move(name)] = c;
    }
    last_ = std::move(look);
    recent_.push_back({last_.when, arrivals_, hand_overs_, waiting(), holding()});
    if (recent_.size() > window + 1)
        recent_.pop_front();
}

void queue_pace::count_changes(const queue_look& look, const std::set<std::string>& names) {
    const stat& now = look.listing->stat;
    std::int32_t changes = now.cversion;
    std::int32_t more = now.num_children;
    // One that was created since, or again, counts from 0.
    if (last_.listing && last_.listing->stat.czxid == now.czxid) {
        // The server computes with 32 bits, too.
        changes =
            static_cast<std::int32_t>(static_cast<std::uint32_t>(changes) -
                                      static_cast<std::uint32_t>(last_.listing->stat.cversion));
        more -= last_.listing->stat.num_children;
    }
    auto [written, deleted] = note_acknowledgements(names);
    std::int64_t arrived = (changes + more) / 2 - written;
    std::int64_t left = (changes - more) / 2 - deleted;
    // What was announced after the listing was made belongs to the next one.
    announced_ += look.announced;
    const std::int64_t turns = std::max<std::int64_t>(0, std::min({announced_, arrived, left}));
    announced_ -= turns;
    arrived -= turns;
    left -= turns + count_given_up(names);
    arrivals_ += static_cast<std::uint64_t>(std::max<std::int64_t>(0, arrived));
    hand_overs_ += static_cast<std::uint64_t>(std::max<std::int64_t>(0, left));
}

/// @return how many have given up
std::int64_t queue_pace::count_given_up(const std::set<std::string>& names) const {
    // Those that are gone, by whom they waited for.
    std::map<std::string_view, std::vector<std::string_view>> behind;
    for (const auto& [name, c] : waiters_) {
        if (names.contains(name))
            continue;
        for (const std::string& path : c.waits_for)
            behind[name_of(path)].push_back(name);
    }
    std::set<std::string_view> given_up;
    std::vector<std::string_view> in_front(names.begin(), names.end());
    while (!in_front.empty()) {
        const auto waited = behind.extract(in_front.back());
        in_front.pop_back();
        if (waited.empty())
            continue;
        // Whoever waited for one that has given up waited for those before that.
        for (std::string_view name : waited.mapped()) {
            if (given_up.insert(name).second)
                in_front.push_back(name);
        }
    }
    return static_cast<std::int64_t>(given_up.size());
}

/// @return how many were written and deleted
std::pair<std::int64_t, std::int64_t> queue_pace::note_acknowledgements(
    const std::set<std::string>& names) {
    std::set<std::string> now;
    for (const std::string& name : names) {
        if (name.ends_with("-acknowledged"))
            now.insert(name);
    }
    auto difference = [](const auto& some, const auto& others) {
        return std::count_if(
            some.begin(), some.end(), [&](const auto& one) { return !others.contains(one); });
    };
    std::pair<std::int64_t, std::int64_t> result(difference(now, acknowledgements_),
                                                 difference(acknowledgements_, now));
    acknowledgements_ = std::move(now);
    return result;
}

std::size_t queue_pace::holding() const noexcept {
    return static_cast<std::size_t>(std::count_if(
        contenders().begin(), contenders().end(), [](const contender_info& c) { return c.holds; }));
}

std::optional<double> queue_pace::per_second(std::uint64_t sample::*count) const {
    if (recent_.size() < 2)
        return std::nullopt;
    std::chrono::duration<double> time = recent_.back().when - recent_.front().when;
    return static_cast<double>(recent_.back().*count - recent_.front().*count) / time.count();
}

std::optional<double> queue_pace::arrivals_per_second() const {
    return per_second(&sample::arrivals);
}

std::optional<double> queue_pace::hand_overs_per_second() const {
    return per_second(&sample::hand_overs);
}

std::optional<double> queue_pace::mean_time(std::size_t sample::*number) const {
    std::optional<double> rate = hand_overs_per_second();
    if (!rate || *rate <= 0)
        return std::nullopt;
    double sum = 0;
    for (const sample& one : recent_)
        sum += static_cast<double>(one.*number);
    return sum / static_cast<double>(recent_.size()) / *rate;
}

std::optional<double> queue_pace::mean_wait() const {
    return mean_time(&sample::waiting);
}

std::optional<double> queue_pace::mean_hold() const {
    return mean_time(&sample::holding);
}

std::optional<std::chrono::system_clock::duration> queue_pace::longest_wait(
    std::chrono::system_clock::time_point now) const {
    std::optional<std::chrono::system_clock::duration> longest;
    for (const contender_info& c : contenders()) {
        auto wait = std::max(now - c.since, std::chrono::system_clock::duration::zero());
        if (!c.holds && (!longest || wait > *longest))
            longest = wait;
    }
    return longest;
}

}  // namespace corozk::program
