// SPDX-License-Identifier: Apache-2.0
#include "scenario.hpp"

#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
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

constexpr std::string_view without_mark = "-without-";

std::int32_t right_named(const std::string& name) {
    if (name == "read" || name == "existence")
        return ZOO_PERM_READ;
    if (name == "write")
        return ZOO_PERM_WRITE;
    if (name == "create")
        return ZOO_PERM_CREATE;
    if (name == "delete")
        return ZOO_PERM_DELETE;
    throw std::invalid_argument("there is no right '" + name +
                                "': it is read, existence, write, create or delete");
}

}  // namespace

scenario scenario::without(const std::string& right) const {
    scenario s = *this;
    s.missing_rights = right_named(right);
    s.hides_unreadable = right == "existence";
    s.name += std::string(without_mark) + right;
    return s;
}

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

std::pair<std::string, std::string> split_name(const std::string& name) {
    const std::size_t mark = name.rfind(without_mark);
    if (mark == name.npos)
        return {name, std::string()};
    return {name.substr(0, mark), name.substr(mark + without_mark.size())};
}

std::optional<scenario> find_scenario(const std::string& name) {
    const auto [base, right] = split_name(name);
    for (const scenario& s : list()) {
        if (s.name == base)
            return right.empty() ? s : s.without(right);
    }
    return std::nullopt;
}

}  // namespace corozk::schedule
