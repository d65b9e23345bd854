// SPDX-License-Identifier: Apache-2.0
#include "case_choice.hpp"

#include <algorithm>
#include <utility>

namespace corozk::wire {

namespace {

using testing::wire_lie;
using testing::wire_occasion;

/// Those of a server that goes on lying which the compact form plays, one of each sort.
const std::vector<wire_lie>& lies_of_compact_persistence() {
    static const std::vector<wire_lie> some = {
        wire_lie::no_bytes,
        wire_lie::another_xid,
        wire_lie::left_out,
        wire_lie::not_there,
        wire_lie::there_already,
        wire_lie::session_over,
        wire_lie::header_only,
        wire_lie::child_twice,
        wire_lie::created_nowhere,
        wire_lie::version_minus_one,
        wire_lie::event_lost,
        wire_lie::no_session,
    };
    return some;
}

/// In how many scenarios the compact form tells a lie once.
std::size_t few(wire_lie lie) {
    return occasion_of(lie) == wire_occasion::answer ? 2 : 1;
}

std::uint64_t frames_for(wire_occasion occasion, const occasion_counts& counts) {
    if (occasion == wire_occasion::connecting)
        return 2;  // the second after a cut of ours
    auto found = counts.find(occasion);
    return found == counts.end() ? 0 : found->second;
}

}  // namespace

case_choice::case_choice(const chances_of_scenarios& chances, const choice_options& options)
    : chances_(chances), options_(options), random_(options.seed) {}

std::vector<wire_case> case_choice::choose() {
    if (!options_.persistent) {
        choose_attacks_without_lies();
        for (wire_lie lie : testing::all_wire_lies())
            choose_lie(lie, few(lie), false);
    }
    bool compact = !options_.full && !options_.persistent;
    for (wire_lie lie : compact ? lies_of_compact_persistence() : testing::all_wire_lies())
        choose_lie(lie, 1, true);
    return std::exchange(cases_, {});
}

std::vector<std::string> case_choice::attacks(const choice_options& options) {
    std::vector<std::string> all;
    if (!options.persistent)
        all = {foreign_nodes, vandal};
    for (wire_lie lie : testing::all_wire_lies())
        all.emplace_back(to_string(lie));
    if (!options.only_attack.empty())
        std::erase_if(all, [&](const std::string& one) { return one != options.only_attack; });
    return all;
}

void case_choice::choose_attacks_without_lies() {
    for (const auto& [scenario, counts] : chances_) {
        std::uint64_t frames = frames_for(wire_occasion::answer, counts);
        if (is_wanted(foreign_nodes))
            add(wire_case{scenario, foreign_nodes, 0, false, 0}, frames, false);
        if (is_wanted(vandal))
            add(wire_case{scenario, vandal, 0, false, 0}, frames, options_.full);
    }
}

void case_choice::choose_lie(wire_lie lie, std::size_t scenarios, bool persistent) {
    std::string attack(to_string(lie));
    std::vector<std::pair<std::string, std::uint64_t>> places;
    for (const auto& [scenario, counts] : chances_) {
        if (std::uint64_t frames = frames_for(occasion_of(lie), counts); frames != 0)
            places.emplace_back(scenario, frames);
    }
    if (!is_wanted(attack) || places.empty())
        return;
    bool everywhere = options_.full && persistent == options_.persistent;
    std::size_t count = everywhere ? places.size() : std::min(scenarios, places.size());
    for (std::size_t i = 0; i < count; ++i) {
        const auto& [scenario, frames] = places[(turn_ + i) % places.size()];
        // Who goes on lying lies at all that come later anyway.
        add(wire_case{scenario, attack, 0, persistent, 0}, frames, everywhere && !persistent);
    }
    turn_ += count;
}

void case_choice::add(wire_case what, std::uint64_t frames, bool everywhere) {
    frames = std::max<std::uint64_t>(frames, 1);
    std::uint64_t drawn = 1 + random_() % frames;
    std::uint64_t bytes = random_() % 1'000'000;
    for (std::uint64_t at = 1; at <= frames; ++at) {
        if (!everywhere && at != drawn)
            continue;
        what.at = at;
        what.seed = bytes + at;
        cases_.push_back(what);
    }
}

bool case_choice::is_wanted(const std::string& attack) const {
    return options_.only_attack.empty() || attack == options_.only_attack;
}

}  // namespace corozk::wire
