// SPDX-License-Identifier: Apache-2.0
#include "scenario.hpp"

#include <algorithm>
#include <utility>

namespace corozk::schedule {

namespace {

std::vector<scenario>& list() {
    static std::vector<scenario> all;
    return all;
}

void add(scenario s) {
    auto at = std::lower_bound(
        list().begin(), list().end(), s.name, [](const scenario& a, const std::string& name) {
            return a.name < name;
        });
    if (at == list().end() || at->name != s.name) {
        list().insert(at, std::move(s));
    } else if (at->twin) {
        *at = std::move(s);
    }
}

}  // namespace

registered::registered(scenario s) {
    if (s.followers == 0 && s.explored == half::both) {
        scenario twin = s.lagging();
        twin.twin = true;
        add(std::move(twin));
    }
    add(std::move(s));
}

registered registered::in_halves(const scenario& s) {
    scenario first = s;
    first.name += "-arriving";
    first.explored = half::arriving;
    scenario second = s;
    second.name += "-leaving";
    second.explored = half::leaving;
    registered{std::move(first)};
    return registered(std::move(second));
}

const std::vector<scenario>& all_scenarios() {
    return list();
}

const scenario* find_scenario(const std::string& name) {
    for (const scenario& s : list()) {
        if (s.name == name)
            return &s;
    }
    return nullptr;
}

}  // namespace corozk::schedule
