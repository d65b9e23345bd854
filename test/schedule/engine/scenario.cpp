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

}  // namespace

registered::registered(scenario s) {
    auto at = std::lower_bound(
        list().begin(), list().end(), s.name, [](const scenario& a, const std::string& name) {
            return a.name < name;
        });
    list().insert(at, std::move(s));
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
