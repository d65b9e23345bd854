// SPDX-License-Identifier: Apache-2.0
#include "safety/updates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace corozk::bench {

namespace {

constexpr std::array<std::string_view, 3> outcomes{"added", "refused", "unknown"};

}  // namespace

update parse_update(std::string_view line) {
    std::istringstream words{std::string(line)};
    std::string outcome;
    update u;
    words >> outcome >> u.element >> u.granted_ns >> u.ended_ns;
    auto at = std::find(outcomes.begin(), outcomes.end(), outcome);
    if (!words || at == outcomes.end())
        throw std::runtime_error(fmt::format("a worker said '{}'", line));
    u.outcome = static_cast<update_outcome>(at - outcomes.begin());
    return u;
}

std::string to_line(const update& u) {
    return fmt::format("{} {} {} {}",
                       outcomes.at(static_cast<std::size_t>(u.outcome)),
                       u.element,
                       u.granted_ns,
                       u.ended_ns);
}

std::set<std::string> parse_elements(std::string_view text) {
    std::istringstream words{std::string(text)};
    std::set<std::string> elements;
    for (std::string element; words >> element;)
        elements.insert(element);
    return elements;
}

std::vector<std::string> lost_updates(const std::vector<update>& updates,
                                      const std::set<std::string>& final_set) {
    std::vector<std::string> lost;
    for (const update& u : updates) {
        if (u.outcome == update_outcome::added && !final_set.contains(u.element))
            lost.push_back(u.element);
    }
    return lost;
}

std::vector<std::string> ghosts(const std::vector<update>& updates,
                                const std::set<std::string>& final_set) {
    std::vector<std::string> all;
    for (const update& u : updates) {
        if (u.outcome == update_outcome::refused && final_set.contains(u.element))
            all.push_back(u.element);
    }
    return all;
}

std::size_t overlaps(std::vector<update> updates) {
    std::sort(updates.begin(), updates.end(), [](const update& a, const update& b) {
        return a.granted_ns < b.granted_ns;
    });
    std::size_t count = 0;
    auto held_until = std::numeric_limits<std::int64_t>::min();
    for (const update& u : updates) {
        count += u.granted_ns < held_until ? 1 : 0;
        held_until = std::max(held_until, u.ended_ns);
    }
    return count;
}

}  // namespace corozk::bench
