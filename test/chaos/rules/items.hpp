// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "chaos/judgement.hpp"
#include "chaos/record.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace corozk::chaos {

/// What was told of an item, and where it is.
struct item_story {
    item_story() = default;

    std::optional<deed> put;  ///< the last word about its put
    bool done = false;
    bool perhaps_taken = false;
    std::size_t queued = 0;
    std::size_t effects = 0;
    std::size_t taken = 0;

    std::size_t places() const noexcept { return queued + effects + taken; }

    void hear(deed what) {
        switch (what) {
            case deed::putting:
            case deed::put:
            case deed::refused: put = what; break;
            case deed::done: done = true; break;
            case deed::took: ++taken; break;
            case deed::perhaps_took: perhaps_taken = true; break;
            default: break;
        }
    }
};

/// What was put is queued, was taken or has had its effect, once; what was refused is nowhere, and
/// what is somewhere was put by somebody. In doubt: at most once. What was done has its effect.
inline void judge_item(const std::string& item, const item_story& story, judgement& result) {
    auto blame = [&](const std::string& why) {
        result.violations.push_back("item " + item + " " + why);
    };
    if (story.places() > 1)
        blame("is there " + std::to_string(story.places()) + " times");
    if (!story.put)
        blame("was put by nobody");
    if (story.put == deed::refused && story.places() > 0)
        blame("was refused, and is there");
    if (story.done && story.effects == 0) {
        blame("was done, and has no effect");
    } else if (story.put == deed::put && story.places() == 0 && !story.perhaps_taken) {
        blame("is lost");
    }
    if (story.put == deed::put)
        ++result.put;
    if (story.put == deed::putting || story.perhaps_taken)
        ++result.in_doubt;
    result.taken += story.taken;
}

inline void judge_items(const std::vector<record>& records,
                        const final_state& last,
                        judgement& result) {
    std::map<std::string, item_story> stories;
    for (const record& r : records) {
        if (!r.item.empty())
            stories[r.item].hear(r.what);
    }
    for (const std::string& item : last.queued)
        ++stories[item].queued;
    for (const std::string& item : last.effects)
        ++stories[item].effects;
    for (const auto& [item, story] : stories)
        judge_item(item, story, result);
}

}  // namespace corozk::chaos
