// SPDX-License-Identifier: Apache-2.0
#include "recipe/barriers/page_barrier_rule.hpp"

#include <algorithm>

namespace corozk::detail {

page_barrier_view view_page_barrier(const name_list& names) {
    page_barrier_view view;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == barrier_ready)
            view.ready = true;
        else
            view.members.emplace_back(names[i]);
    }
    std::sort(view.members.begin(), view.members.end());
    return view;
}

std::vector<std::string> still_members(const std::vector<std::string>& before,
                                       const page_barrier_view& now) {
    std::vector<std::string> still;
    for (const std::string& name : before) {
        if (std::binary_search(now.members.begin(), now.members.end(), name))
            still.push_back(name);
    }
    return still;
}

page_leave plan_page_leave(const std::vector<std::string>& members, const std::string& own) {
    if (members.empty())
        return page_leave::done;
    if (members.front() == own)
        return members.size() == 1 ? page_leave::erase : page_leave::watch_last;
    const bool there = std::binary_search(members.begin(), members.end(), own);
    return there ? page_leave::erase : page_leave::watch_first;
}

}  // namespace corozk::detail
